// Lines of an exported workspace, in JSON: a head, the rows table by table, the contents of files, and an end
// line, which is missing if the file was truncated.
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { uuid } from '../../platform/lib/schema.ts';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { digestIn, type ArrivedBlob, type Blobs } from '../../platform/store/files/blobs.ts';
import type { Connection } from '../../platform/store/engine/looking.ts';

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

/** Table whose rows name contents by SHA-256, until the rows are deleted. */
export const naming = 'attachments';
/** 1 MiB in base64. */
const pieceBytes = 768 * 1024;

/**
 * Returns the file contents of a workspace in pieces, which precede the attachments that name them.
 * @throws ApiError if the content of an attachment is missing or damaged
 */
export async function* contentsOf(
  db: Connection,
  pathOf: Blobs['pathOf'],
  workspaceId: string,
): AsyncGenerator<BlobLine> {
  const referenced = db
    .prepare(
      `SELECT sha256, min(id) AS id FROM ${naming}
       WHERE workspace_id = ?1 AND deleted_at IS NULL AND sha256 IS NOT NULL GROUP BY sha256 ORDER BY sha256`,
    )
    .all([workspaceId]) as { sha256: string; id: string }[];
  for (const { sha256, id } of referenced) {
    const digest = digestIn(sha256);
    if (!digest)
      throw new ApiError('conflict', `The row of ${id} has an invalid SHA-256. Delete the attachment.`);
    const path = pathOf(digest);
    const hash = createHash('sha256');
    for await (const piece of piecesOf(path)) {
      hash.update(piece);
      yield { blob: digest, data: piece.toString('base64') };
    }
    if (hash.digest('hex') !== sha256)
      throw new ApiError(
        'conflict',
        `The content of ${id} is missing or damaged. Restore ${path} from a backup, or delete the attachment.`,
      );
  }
}

/** Yields at least one piece, so that the content of an empty file has a line. */
async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  if (!existsSync(path)) return yield Buffer.of();
  const file = await open(path, 'r');
  try {
    for (let isFirst = true; ; isFirst = false) {
      const piece = Buffer.alloc(pieceBytes);
      const { bytesRead } = await file.read(piece, 0, pieceBytes);
      if (bytesRead > 0 || isFirst) yield piece.subarray(0, bytesRead);
      if (bytesRead < pieceBytes) return;
    }
  } finally {
    await file.close();
  }
}

export type Contents = ReturnType<typeof createContents>;

/**
 * Imports the contents of files. A content is completely on disk, under its SHA-256, before a row that references the content is accepted.
 * @param blobs null to compare the contents with their names without writing them
 */
export function createContents(blobs: Blobs | null) {
  const arrived = new Map<string, number>();
  const compared = async (
    pieces: AsyncIterable<Uint8Array>,
  ): Promise<Pick<ArrivedBlob, 'bytes' | 'persist' | 'release'> & { sha256: string }> => {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
    }
    const sha256 = hash.digest('hex');
    return { sha256, bytes, persist: async () => undefined, release: () => undefined };
  };
  return {
    /** @param pieces all pieces of the content of one file @throws ApiError, StoreError */
    async take(sha256: string, pieces: AsyncIterable<Uint8Array>, line: number): Promise<void> {
      const content = await (blobs ? blobs.take(pieces) : compared(pieces));
      try {
        if (content.sha256 !== sha256)
          throw new ApiError(
            'malformed_request',
            `The content from line ${line} on does not have the SHA-256 ${JSON.stringify(String(sha256)).slice(0, 80)}: the file was changed or truncated. Export the workspace again.`,
          );
        await content.persist();
        arrived.set(sha256, content.bytes);
      } finally {
        content.release();
      }
    },
    /**
     * Returns the fault of a row that names content outside the file; null for other rows. An import of the
     * row would disclose contents of other workspaces.
     */
    faultOf({ table, row }: RowLine): string | null {
      if (table !== naming || row.sha256 === null || row.deleted_at !== null) return null;
      const bytes = arrived.get(String(row.sha256));
      if (bytes === undefined) return `${naming}.sha256 names content that is not in the file.`;
      return bytes === row.bytes ? null : `${naming}.bytes is not the length of the content, ${bytes}.`;
    },
  };
}
