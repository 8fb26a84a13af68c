// Stores old, rarely read events in immutable compressed files next to the database. Files are written
// atomically, and verified on read, against the checksum that was recorded when they were written.
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { StoreError } from '../store.ts';
import { makePrivateDir, makePrivateFile } from './private.ts';
import { syncPathLater } from './installation.ts';

interface ArchiveFile {
  /** Sequence number of the first entry in the file. */
  readonly first: number;
  /** Sequence number of the last entry in the file. */
  readonly last: number;
  /** SHA-256 of the file, in hex. */
  readonly sha256: string;
}

export interface Archive {
  /**
   * Writes a file, which on return is durable and was verified by reading it back. Replaces an unused file of
   * the same name.
   * @param texts JSON entries by sequence number, ascending
   */
  write(
    workspaceId: string,
    texts: ReadonlyMap<number, string>,
  ): Promise<ArchiveFile & { readonly bytes: number }>;
  /** Returns the entries of a file by sequence number. @throws ArchiveError if the file is missing or damaged */
  read(workspaceId: string, file: ArchiveFile): Promise<ReadonlyMap<number, string>>;
}

/** Archive file as referenced by a row of the database. */
export interface ArchivedFile extends ArchiveFile {
  readonly workspaceId: string;
}

/** Returns the path of the file below the folder `archive`. @throws ArchiveError for an id or number that would escape the folder */
export function archivedName({ workspaceId, first, last }: ArchivedFile): string {
  if (!/^[\w-]+$/.test(workspaceId) || !Number.isInteger(first) || !Number.isInteger(last))
    throw new ArchiveError(
      `The database references an event archive file by \`${workspaceId}\`, ${first} and ${last}, which is not a valid file name: the row was not written by Tatami. Restore an earlier backup.`,
    );
  return `${workspaceId}/${first}-${last}.jsonl.zst`;
}

/** An archive file cannot be read; the message names the file. */
export class ArchiveError extends StoreError {
  constructor(message: string, cause?: unknown) {
    super('damaged', message, cause);
    this.name = 'ArchiveError';
  }
}

/** Capacity of the cache of decoded files, in characters. */
const rememberedMax = 16 * 1024 * 1024;
const level = 9;

/** @param onDamage called with a message when a file cannot be read, and with null once all such files are readable again */
export function createArchive(folder: string, onDamage: (message: string | null) => void): Archive {
  const damaged = new Set<string>();
  const remembered = new LRUCache<string, ReadonlyMap<number, string>>({
    maxSize: rememberedMax,
    sizeCalculation: (texts) => [...texts.values()].reduce((sum, text) => sum + text.length + 50, 1),
  });
  const pathOf = (workspaceId: string, file: ArchiveFile): string =>
    join(folder, archivedName({ workspaceId, ...file }));

  const readFresh: Archive['read'] = async (workspaceId, file) => {
    const path = pathOf(workspaceId, file);
    try {
      const bytes = wholeOf(await readFile(path), file);
      const texts = linesOf((await Bun.zstdDecompress(bytes)).toString());
      if (damaged.delete(path) && damaged.size === 0) onDamage(null);
      return texts;
    } catch (error) {
      const unreadable = unreadableAt(relative(dirname(folder), path), error);
      damaged.add(path);
      onDamage(unreadable.message);
      throw unreadable;
    }
  };

  return {
    async write(workspaceId, texts) {
      const numbers = [...texts.keys()];
      const bytes = await Bun.zstdCompress(Buffer.from([...texts].map(lineOf).join('')), { level });
      const file = { first: numbers[0]!, last: numbers.at(-1)!, sha256: hashOf(bytes) };
      for (const dir of [folder, join(folder, workspaceId)]) makePrivateDir(dir);
      await writeWhole(pathOf(workspaceId, file), bytes);
      const again = await readFresh(workspaceId, file);
      if (again.size !== texts.size || [...texts].some(([number, text]) => again.get(number) !== text))
        throw new ArchiveError(
          `${pathOf(workspaceId, file)} does not contain the data that was written to it. Check the disk.`,
        );
      return { ...file, bytes: bytes.length };
    },
    async read(workspaceId, file) {
      const known = remembered.get(file.sha256);
      if (known) return known;
      const texts = await readFresh(workspaceId, file);
      remembered.set(file.sha256, texts);
      return texts;
    },
  };
}

/**
 * Synchronous `Archive.read`, for commands, which serve no requests.
 * @throws ArchiveError if the file is missing or damaged
 */
export function readArchivedSync(folder: string, file: ArchivedFile): ReadonlyMap<number, string> {
  const name = archivedName(file);
  try {
    const bytes = wholeOf(readFileSync(join(folder, name)), file);
    return linesOf(Bun.zstdDecompressSync(bytes).toString());
  } catch (error) {
    throw unreadableAt(join(basename(folder), name), error);
  }
}

/** Returns the bytes unchanged. @throws Error if the checksum does not match */
function wholeOf(bytes: Buffer<ArrayBuffer>, { sha256 }: ArchiveFile): Buffer<ArrayBuffer> {
  if (hashOf(bytes) !== sha256) throw new Error('The checksum does not match.');
  return bytes;
}

function unreadableAt(path: string, error: unknown): ArchiveError {
  const reason = error instanceof Error ? error.message : String(error);
  return new ArchiveError(`${path} is missing or damaged: restore it from a backup. ${reason}`, error);
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Returns a JSON array of the number and the entry, so that other tools can parse each line. */
const lineOf = ([number, text]: readonly [number, string]): string => `[${number},${text}]\n`;

function linesOf(text: string): ReadonlyMap<number, string> {
  const lines = text.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const comma = line.indexOf(',');
      return [Number(line.slice(1, comma)), line.slice(comma + 1, -1)];
    }),
  );
}

/** Writes the file atomically and durably, without blocking the event loop on a sync. */
async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const unfinished = `${path}.new`;
  makePrivateFile(unfinished, bytes);
  await syncPathLater(unfinished);
  await rename(unfinished, path);
  await syncPathLater(join(path, '..'));
}
