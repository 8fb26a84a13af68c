// The lines of an exported workspace, each of them JSON: what it is, its rows table by table, the contents of its files, and its end, by
// which a file that was cut short is known.
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { ApiError } from '../lib/errors.ts';
import { uuid } from '../lib/schema.ts';

export const formatVersion = 1;

export interface Head {
  readonly tatami: 'workspace';
  readonly format: number;
  /** Of the database that it comes from. */
  readonly schema: number;
  readonly workspace: { readonly id: string; readonly name: string };
}

/** Bytes as `{"hex": …}`; JSON has the others. */
export type LineCell = string | number | null | { readonly hex: string };

export interface RowLine {
  readonly table: string;
  /** Without the workspace, which the head names. */
  readonly row: Readonly<Record<string, LineCell>>;
}

/** A piece of the content of a file; those of one content follow each other. */
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

/** Whether a file begins as an exported workspace does. */
export const isHead = (line: string): boolean => line.startsWith('{"tatami":"workspace"');

const headShape = Type.Object({
  format: Type.Integer({ minimum: 1 }),
  schema: Type.Integer({ minimum: 1 }),
  workspace: Type.Object({ id: uuid, name: Type.String({ minLength: 1, maxLength: 1_000 }) }),
});

/** The head of a file; undefined for a line that is none, or is not as Tatami writes it. */
export function readHead(line: string): Head | undefined {
  try {
    const head: unknown = isHead(line) ? JSON.parse(line) : undefined;
    return Check(headShape, head) ? (head as Head) : undefined;
  } catch {
    return undefined;
  }
}

/** Longer lines are no rows or contents that Tatami wrote (characters). */
const lineCharsMax = 64 * 1024 * 1024;

/** The lines of a text in pieces, by line feeds alone: JSON holds other line ends as they are. @throws ApiError for one too long */
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
