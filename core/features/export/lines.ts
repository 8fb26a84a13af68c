// Lines of an exported workspace, in JSON: a head, the rows table by table, the contents of files, and an end
// line, which is missing if the file was truncated.
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { uuid } from '../../platform/lib/schema.ts';

export const formatVersion = 1;

export interface Head {
  readonly tatami: 'workspace';
  readonly format: number;
  /** Schema version of the exported database. */
  readonly schema: number;
  readonly workspace: { readonly id: string; readonly name: string };
}

/** Value of a column; bytes are `{"hex": …}`. */
export type LineCell = string | number | null | { readonly hex: string };

export interface RowLine {
  readonly table: string;
  /** Columns of the row, without the id of the workspace, which is in the head. */
  readonly row: Readonly<Record<string, LineCell>>;
}

/** Piece of the content of a file; the pieces of one file are consecutive. */
export interface BlobLine {
  /** The SHA-256 of the whole content, in hexadecimal. */
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

/** Returns true if the first line of a file is that of an exported workspace. */
export const isHead = (line: string): boolean => line.startsWith('{"tatami":"workspace"');

const headShape = Type.Object({
  format: Type.Integer({ minimum: 1 }),
  schema: Type.Integer({ minimum: 1 }),
  workspace: Type.Object({ id: uuid, name: Type.String({ minLength: 1, maxLength: 1_000 }) }),
});

/** Returns the head of a file; undefined for any line that Tatami would not write as a head. */
export function readHead(line: string): Head | undefined {
  try {
    const head: unknown = isHead(line) ? JSON.parse(line) : undefined;
    return Check(headShape, head) ? (head as Head) : undefined;
  } catch {
    return undefined;
  }
}

/** Maximum length of a line in characters; Tatami writes no longer ones. */
const lineCharsMax = 64 * 1024 * 1024;

/** Splits at line feeds only, because JSON may contain other line separators. @throws ApiError for a line that is too long */
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
        'A line of the file is too long for an exported workspace. Export the workspace again.',
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
