// Line format of an exported workspace, one JSON value per line: head, rows by table, blobs, and an end line whose absence reveals a
// truncated file.
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { ApiError } from '../lib/errors.ts';
import { uuid } from '../lib/schema.ts';

export const formatVersion = 1;

export interface Head {
  readonly tatami: 'workspace';
  readonly format: number;
  /** Schema version of the source database. */
  readonly schema: number;
  readonly workspace: { readonly id: string; readonly name: string };
}

/** Value of a column; bytes are written of a column; bytes are `{"hex": …}`. */
export type LineCell = string | number | null | { readonly hex: string };

export interface RowLine {
  readonly table: string;
  /** Columns without the workspace id, which is in the head. */
  readonly row: Readonly<Record<string, LineCell>>;
}

/** Piece of a blob. The pieces of one blob are consecutive. */
export interface BlobLine {
  /** SHA-256 of the whole blob, in hex. */
  readonly blob: string;
  /** Base64. */
  readonly data: string;
}

export interface End {
  readonly end: true;
  readonly rows: number;
}

export const headOf = (schema: number, workspace: Head['workspace']): Head => ({
  tatami: 'workspace',
  format: formatVersion,
  schema,
  workspace,
});

/** Returns true for the first line of an exported workspace. */
export const isHead = (line: string): boolean => line.startsWith('{"tatami":"workspace"');

const headShape = Type.Object({
  format: Type.Integer({ minimum: 1 }),
  schema: Type.Integer({ minimum: 1 }),
  workspace: Type.Object({ id: uuid, name: Type.String({ minLength: 1, maxLength: 1_000 }) }),
});

/** Returns the head of a file; undefined if the line is not a head write as a head. */
export function readHead(line: string): Head | undefined {
  try {
    const head: unknown = isHead(line) ? JSON.parse(line) : undefined;
    return Check(headShape, head) ? (head as Head) : undefined;
  } catch {
    return undefined;
  }
}

/** Maximum line length in characters; Tatami writes no longer lines. */
const lineCharsMax = 64 * 1024 * 1024;

/** Splits text at line feeds only, because JSON may contain other line separators. @throws ApiError for a line that is too long */
export async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let pending: string[] = [];
  let pendingChars = 0;
  for await (const chunk of chunks) {
    const [first = '', ...others] = chunk.split('\n');
    pending.push(first);
    pendingChars += first.length;
    if (pendingChars > lineCharsMax)
      throw new ApiError(
        'malformed_request',
        'A line of the file is too long for an exported workspace. Export it again.',
      );
    if (others.length === 0) continue;
    yield pending.join('');
    const last = others.pop()!;
    yield* others;
    pending = [last];
    pendingChars = last.length;
  }
  const end = pending.join('');
  if (end !== '') yield end;
}
