// The lines of an exported workspace, each of them JSON: what it is, its rows table by table, the contents of its files, and its end, by
// which a file that was cut short is known.

export const formatVersion = 1;

export interface Head {
  readonly tatami: 'workspace';
  readonly format: number;
  /** Of the database that it comes from. */
  readonly schema: number;
  readonly workspace: { readonly id: string; readonly name: string };
}

/** Bytes as `{"hex": …}`; JSON has the others. */
export type Cell = string | number | null | { readonly hex: string };

export interface RowLine {
  readonly table: string;
  /** Without the workspace, which the head names. */
  readonly row: Readonly<Record<string, Cell>>;
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

/** The head of a file that is one; undefined for any other line. */
export function readHead(line: string): Head | undefined {
  if (!line.startsWith('{"tatami":"workspace"')) return undefined;
  return JSON.parse(line) as Head;
}

/** The lines of a text in pieces, by line feeds alone: JSON holds other line ends as they are. */
export async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let held = '';
  for await (const chunk of chunks) {
    const lines = (held + chunk).split('\n');
    held = lines.pop() ?? '';
    yield* lines;
  }
  if (held !== '') yield held;
}
