// What is wrong with a plugin, told to its author: the file, the line, and the line's text.
import { PackageError, type SourceLocation } from '../../../../../sdk/plugin/manifest.ts';
import { ApiError, wordsOfField } from '../../../../platform/lib/errors/errors.ts';
import { positionText } from '../../../../features/plugins/offline.ts';
import { CommandError, exitCodes } from '../../lib/output.ts';
import { locationInManifest, type Bundle } from './manifest-location.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type SourceDiagnostic = SourceLocation & { readonly message: string };

// A line of the author's with a mark below the place that is meant, as compilers show it.

const widthMax = 100;

/** None where the file cannot be read: the place itself is said elsewhere. @param folder of the plugin */
function codeFrame(folder: string, { file, line, column }: SourceLocation): string[] {
  const text = lineOf(join(folder, file), line);
  if (text === undefined) return [];
  const from = Math.max(0, column - 1 - Math.floor(widthMax / 2));
  const shown = text
    .slice(from, from + widthMax)
    .replaceAll('\t', ' ')
    .trimEnd();
  const number = String(line);
  return [
    `  ${number} | ${shown}`,
    `  ${' '.repeat(number.length)} | ${' '.repeat(Math.max(0, column - 1 - from))}^`,
  ];
}

function lineOf(path: string, line: number): string | undefined {
  try {
    return readFileSync(path, 'utf8').split(/\r?\n/)[line - 1];
  } catch {
    return undefined;
  }
}

/**
 * @param folder of the plugin
 * @param bundle what was made of it, where it came to that
 */
export function authorError(error: unknown, folder: string, bundle: Bundle | undefined): unknown {
  const [first, ...more] = placesIn(error, bundle);
  if (!first) return error;
  const headline = `${positionText(first)}: ${first.message}`;
  const lines = [
    ...codeFrame(folder, first),
    ...more.flatMap((told) => [`${positionText(told)}: ${told.message}`, ...codeFrame(folder, told)]),
  ];
  return new CommandError(headline, exitCodes.failed, { cause: error, lines });
}

function placesIn(error: unknown, bundle: Bundle | undefined): readonly SourceDiagnostic[] {
  if (error instanceof PackageError) {
    if (error.locations.length > 0) return error.locations;
    return inManifest(bundle, error.path.replaceAll('/', '.').replace(/^\./, ''), error.message);
  }
  if (error instanceof ApiError)
    return error.details.flatMap((detail) => inManifest(bundle, detail.path, wordsOfField(error, detail)));
  return [];
}

/** @param path of the package document: `manifest.on.issue.created` */
function inManifest(bundle: Bundle | undefined, path: string, message: string): SourceDiagnostic[] {
  const place = bundle && locationOfDetail(bundle, path);
  return place ? [{ ...place, message }] : [];
}

/** The place of what an answer names by a path such as `package.manifest.on.issue.created.filter`; null for any other path. */
export function locationOfDetail(bundle: Bundle, path: string): SourceLocation | null {
  const [whole, inside = ''] = /^(?:package\.)?manifest(?:\.(.+))?$/.exec(path) ?? [];
  return whole === undefined ? null : locationInManifest(bundle, inside);
}
