// Looks a CSV file over before anything is sent: whether it is there and is UTF-8, and how many rows it has. A file in another encoding
// would else arrive as garbled issues, which a second run does not mend.
import { isUtf8 } from 'node:buffer';
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { quoted } from '../../../platform/lib/text/printable.ts';
import { nearest } from '../../../platform/lib/text/words.ts';
import { CommandError } from '../lib/output.ts';

const newline = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;

/** @returns how many rows follow the header @throws CommandError */
export async function survey(file: string): Promise<number> {
  const counter = createCounter();
  let line = 1;
  let left: Buffer = Buffer.alloc(0);
  const look = (bytes: Buffer): void => {
    if (line === 1) requireNoUtf16(file, bytes);
    if (!isUtf8(bytes)) throw notUtf8(file, bytes, line);
    line += counter.add(bytes);
  };
  try {
    for await (const chunk of createReadStream(file, {
      highWaterMark: 1024 * 1024,
    }) as AsyncIterable<Buffer>) {
      const bytes = left.length === 0 ? chunk : Buffer.concat([left, chunk]);
      // A line end is never a part of a longer character.
      const end = Math.max(bytes.lastIndexOf(newline), bytes.lastIndexOf(carriageReturn)) + 1;
      if (end > 0) look(bytes.subarray(0, end));
      left = bytes.subarray(end);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      `${file} cannot be read: ${(error as Error).message}. Check its permissions.`,
      undefined,
      {
        cause: error,
      },
    );
  }
  if (left.length > 0) look(left);
  return Math.max(0, counter.rows() - 1);
}

/** @throws CommandError */
export function requireFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory()) throw new CommandError(`${file} is a directory. Pass the CSV file in it.`);
  if (found?.isFile() && found.size === 0) throw new CommandError(`${file} is empty. Choose another file.`);
  if (found?.isFile()) return;
  const meant = nearest(basename(file), namesIn(dirname(file)));
  throw new CommandError(
    `${file} does not exist or is not a file.${meant === undefined ? ' Check the path.' : ` Did you mean ${join(dirname(file), meant)}?`}`,
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Latin letters are every second byte of UTF-16, the others 0, which no CSV file begins with. */
function requireNoUtf16(file: string, [first, second]: Buffer): void {
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isMarked || first === 0 || second === 0)
    throw new CommandError(`${file} is UTF-16, not UTF-8. ${conversion('UTF-16', file)}`);
}

/** @param line the number of the first line in `bytes` */
function notUtf8(file: string, bytes: Buffer, line: number): CommandError {
  const before = bytes.subarray(0, firstBroken(bytes));
  const at = line + (before.toString('latin1').match(/\r\n|\n|\r/g)?.length ?? 0);
  const byte = bytes[before.length] ?? 0;
  const column = before.length - Math.max(before.lastIndexOf(newline), before.lastIndexOf(carriageReturn));
  return new CommandError(
    `${file} is not UTF-8: line ${at}, byte ${column} is 0x${byte.toString(16).toUpperCase()}. ` +
      `Many programs write Windows-1252 (Latin-1). ${conversion('WINDOWS-1252', file)}`,
  );
}

/** The place of the first byte that is no UTF-8, in bytes that hold one: by lines, then by characters. */
function firstBroken(bytes: Buffer): number {
  let at = 0;
  for (let end = 0; end >= 0 && isUtf8(bytes.subarray(at, end)); end = bytes.indexOf(newline, at) + 1 || -1)
    at = end;
  for (;;) {
    const length = [1, 2, 3, 4].find((bytesOf) => isUtf8(bytes.subarray(at, at + bytesOf)));
    if (length === undefined) return at;
    at += length;
  }
}

function conversion(from: string, file: string): string {
  const name = basename(file);
  return `Convert it: iconv -f ${from} -t UTF-8 ${quoted(name)} > ${quoted(`utf8-${name}`)}`;
}

/** Counts records: lines that are not empty, outside of quotes. */
function createCounter() {
  let rows = 0;
  let isQuoted = false;
  let isEmpty = true;
  let wasReturn = false;
  return {
    rows: () => rows + (isEmpty ? 0 : 1),
    /** @returns how many lines end in it */
    add(bytes: Buffer): number {
      let lines = 0;
      for (const byte of bytes) {
        const isEnd = byte === newline || byte === carriageReturn;
        if (isEnd && !(byte === newline && wasReturn)) lines++;
        wasReturn = byte === carriageReturn;
        if (byte === quote) isQuoted = !isQuoted;
        if (!isEnd || isQuoted) isEmpty = false;
        else if (!isEmpty) {
          rows++;
          isEmpty = true;
        }
      }
      return lines;
    },
  };
}
