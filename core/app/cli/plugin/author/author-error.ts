// Errors of a plugin for its author: the file, the line, and the text of the line.
import {
  PackageError,
  type SourceLocation,
  type PackageSourceMap,
} from '../../../../../sdk/plugin/manifest.ts';
import { ApiError, wordsOfField } from '../../../../platform/lib/errors/errors.ts';
import { positionText, sourceMapLookupOf } from '../../../../features/plugins/offline.ts';
import { CommandError, exitCodes } from '../../lib/output.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, type AnyNode, type ObjectExpression, type Program, type Property } from 'acorn';

type SourceDiagnostic = SourceLocation & { readonly message: string };

const widthMax = 100;

/** The line with a mark below the position, as compilers print it; empty if the file cannot be read. @param folder of the plugin */
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

export interface Bundle {
  readonly code: string;
  readonly sourceMap?: PackageSourceMap | null;
}

/** Maximum number of names between the definition and a property. */
const namesMax = 20;

/**
 * The place of the property that a path names, or of the one nearest to it that is written out; where there is no definition, of what is
 * exported in its place, or the begin of the plugin. Null where the bundle cannot be read.
 * @param path as an error names it: `on.issue.created.filter.priority`; empty for the definition itself
 */
function locationInManifest({ code, sourceMap }: Bundle, path: string): SourceLocation | null {
  const program = parseBundle(code);
  if (!program) return null;
  const exported = defaultExport(program);
  if (!exported) return { file: 'plugin.ts', line: 1, column: 1 };
  const definition = objectOf(program, exported);
  const { line, column } = definition ? nearest(program, definition, path) : startOf(exported);
  return sourceMapLookupOf(sourceMap)(line, column + 1);
}

function parseBundle(code: string): Program | null {
  try {
    return parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true });
  } catch {
    // The error is printed without a line, because the sandbox may load code that this parser cannot read.
    return null;
  }
}

function nearest(program: Program, definition: ObjectExpression, path: string) {
  let place = startOf(definition);
  let object: ObjectExpression | null = definition;
  for (let rest = path; object && rest !== '';) {
    const found = propertyAt(object, rest);
    if (!found) break;
    place = startOf(found.property);
    rest = rest.slice(found.name.length + 1);
    object = objectOf(program, found.property.value);
  }
  return place;
}

function startOf({ loc }: AnyNode) {
  return loc?.start ?? { line: 1, column: 0 };
}

/** Names hold points themselves, so that the longest that fits is meant. */
function propertyAt(object: ObjectExpression, path: string): { property: Property; name: string } | null {
  const fitting = object.properties.flatMap((property) => {
    const name = property.type === 'Property' ? nameOf(property) : null;
    const fits = name !== null && (path === name || path.startsWith(`${name}.`));
    return fits && property.type === 'Property' ? [{ property, name }] : [];
  });
  return fitting.sort((a, b) => b.name.length - a.name.length)[0] ?? null;
}

function nameOf({ key, computed }: Property): string | null {
  if (key.type === 'Identifier' && !computed) return key.name;
  return key.type === 'Literal' && typeof key.value === 'string' ? key.value : null;
}

/** The object literal that an expression is, calls (`definePlugin`) and names of the module seen through. */
function objectOf(program: Program, expression: AnyNode | null): ObjectExpression | null {
  let node = expression;
  for (let names = 0; node && names < namesMax; names++) {
    if (node.type === 'ObjectExpression') return node;
    if (node.type === 'CallExpression') node = node.arguments[0] ?? null;
    else if (node.type === 'Identifier') node = valueOf(program, node.name);
    else return null;
  }
  return null;
}

function defaultExport(program: Program): AnyNode | null {
  for (const node of program.body) {
    if (node.type === 'ExportDefaultDeclaration') return node.declaration;
    if (node.type !== 'ExportNamedDeclaration') continue;
    const found = node.specifiers.find(
      ({ exported }) => exported.type === 'Identifier' && exported.name === 'default',
    );
    if (found) return found.local;
  }
  return null;
}

function valueOf(program: Program, name: string): AnyNode | null {
  for (const node of program.body) {
    if (node.type !== 'VariableDeclaration') continue;
    const found = node.declarations.find(({ id }) => id.type === 'Identifier' && id.name === name);
    if (found) return found.init ?? null;
  }
  return null;
}
