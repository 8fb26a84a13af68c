// Detects the format and the column separator from the start of a file.
import { closeSync, openSync, readSync } from 'node:fs';

const headBytes = 64 * 1024;

export function headOf(file: string): string {
  const bytes = Buffer.alloc(headBytes);
  const fd = openSync(file, 'r');
  try {
    return bytes
      .subarray(0, readSync(fd, bytes))
      .toString('utf8')
      .replace(/^\uFEFF/, '');
  } finally {
    closeSync(fd);
  }
}

/** A comma unless the first line has more of another one; spreadsheets write semicolons where the comma is in numbers, and Jira lets people choose. */
const delimiters = [',', ';', '\t', '|'];

/** @param head of a CSV file */
export function headerOf(head: string): { readonly delimiter: string; readonly columns: readonly string[] } {
  const [line = ''] = head.trimStart().split(/\r\n|\n|\r/);
  const unquoted = line.replace(/"[^"]*"/g, '');
  const count = (delimiter: string): number => unquoted.split(delimiter).length;
  const delimiter = delimiters.reduce((best, one) => (count(one) > count(best) ? one : best));
  return { delimiter, columns: line.split(delimiter).map((column) => column.replace(/^"|"$/g, '')) };
}
