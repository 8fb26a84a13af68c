// A line of the author's with a mark below the place that is meant, as compilers show it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceLocation } from '../../../sdk/plugin/manifest.ts';

const widthMax = 100;

/** None where the file cannot be read: the place itself is said elsewhere. @param folder of the plugin */
export function codeFrame(folder: string, { file, line, column }: SourceLocation): string[] {
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
