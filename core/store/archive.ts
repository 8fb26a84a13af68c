// Files of numbered texts beside the database, compressed, whole or not there, and never changed: what is old and seldom read rests in
// them. Whoever reads one brings the checksum that it had when it was written.
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { StoreError } from './store.ts';
import { makePrivateDir, makePrivateFile } from './private.ts';
import { syncPathLater } from './whole-file.ts';

interface ArchiveFile {
  /** The number of its first text, and of its last. */
  readonly first: number;
  readonly last: number;
  /** Of the file, in hex. */
  readonly sha256: string;
}

export interface Archive {
  /**
   * Durable, and read again once, on return. One that was written before and never used is replaced.
   * @param texts JSON, by their numbers, ascending
   */
  write(
    workspaceId: string,
    texts: ReadonlyMap<number, string>,
  ): Promise<ArchiveFile & { readonly bytes: number }>;
  /** @throws ArchiveError where it is missing or damaged */
  read(workspaceId: string, file: ArchiveFile): Promise<ReadonlyMap<number, string>>;
}

/** A file of old events, as a database names it. */
export interface ArchivedFile extends ArchiveFile {
  readonly workspaceId: string;
}

/** Name of the file below the folder `archive`. @throws ArchiveError for an id or a number that would lead out of the folder */
export function archivedName({ workspaceId, first, last }: Omit<ArchivedFile, 'sha256'>): string {
  if (!/^[\w-]+$/.test(workspaceId) || !Number.isInteger(first) || !Number.isInteger(last))
    throw new ArchiveError(
      `The database names a file of old events by \`${workspaceId}\`, ${first} and ${last}, which is no name of such a file: the row was not written by Tatami. Restore a backup from before.`,
    );
  return `${workspaceId}/${first}-${last}.jsonl.zst`;
}

/** A file of the archive cannot be read; the message says which. */
export class ArchiveError extends StoreError {
  constructor(message: string, cause?: unknown) {
    super('damaged', message, cause);
    this.name = 'ArchiveError';
  }
}

/** Room for what was read lately, in characters. */
const rememberedMax = 16 * 1024 * 1024;
const level = 9;

/** @param onDamage told of a file that cannot be read, and with null when all of those can be read again */
export function createArchive(folder: string, onDamage: (message: string | null) => void): Archive {
  const damaged = new Set<string>();
  const remembered = new LRUCache<string, ReadonlyMap<number, string>>({
    maxSize: rememberedMax,
    sizeCalculation: (texts) => [...texts.values()].reduce((sum, text) => sum + text.length + 50, 1),
  });
  const pathOf = (workspaceId: string, { first, last }: Pick<ArchiveFile, 'first' | 'last'>): string =>
    join(folder, archivedName({ workspaceId, first, last }));

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
        throw new ArchiveError(`${pathOf(workspaceId, file)} does not say what was written to it.`);
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

/** As `Archive.read`, at once: for a command on which nothing else waits. @throws ArchiveError where it is missing or damaged */
export function readArchivedSync(folder: string, file: ArchivedFile): ReadonlyMap<number, string> {
  const name = archivedName(file);
  try {
    const bytes = wholeOf(readFileSync(join(folder, name)), file);
    return linesOf(Bun.zstdDecompressSync(bytes).toString());
  } catch (error) {
    throw unreadableAt(join(basename(folder), name), error);
  }
}

/** @throws Error where these are not the bytes that were written */
function wholeOf(bytes: Buffer<ArrayBuffer>, { sha256 }: ArchiveFile): Buffer<ArrayBuffer> {
  if (hashOf(bytes) !== sha256) throw new Error('Its checksum is another one.');
  return bytes;
}

function unreadableAt(path: string, error: unknown): ArchiveError {
  const reason = error instanceof Error ? error.message : String(error);
  return new ArchiveError(`${path} is missing or damaged: bring it back from a backup. ${reason}`, error);
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A list of two, so that each line is JSON to other tools as well. */
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

/** Whole under its name or not there; the disk has it on return, and no sync holds up the event loop. */
async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const unfinished = `${path}.new`;
  makePrivateFile(unfinished, bytes);
  await syncPathLater(unfinished);
  await rename(unfinished, path);
  await syncPathLater(join(path, '..'));
}
