// Stores file contents in `blobs/` under their SHA-256, once per server. Only database rows state which
// workspace has which content, and the duration and the result of an upload are the same if the content
// already existed. A content is complete before a row references it, and is removed some time after its last
// reference.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../../lib/errors/errors.ts';
import { diskFaultOf } from '../engine/engine-errors.ts';
import { makePrivateDir, makePrivateFile } from './private.ts';
import { StoreError } from '../store.ts';
import { syncPathLater } from './installation.ts';

declare const checked: unique symbol;
/** Validated SHA-256 of a blob. Paths of blobs are built from this type only. */
export type Digest = string & { readonly [checked]: true };

const digest = /^[0-9a-f]{64}$/;

/** Returns null unless the text is 64 lower-case hexadecimal digits. */
export const digestIn = (text: string): Digest | null => (digest.test(text) ? (text as Digest) : null);

export interface BlobLimits {
  /** Maximum size of one file. */
  readonly fileBytesMax: number;
  /** Maximum total size of the files of one workspace. */
  readonly workspaceBytesMax: number;
}

/** Completely received upload that is not yet stored under its digest. */
export interface ArrivedBlob {
  readonly sha256: Digest;
  readonly bytes: number;
  /** Stores the content durably under its digest. Must be called before the commit of the row that references it. @throws StoreError */
  persist(): Promise<void>;
  /** Deletes the upload unless `persist` stored it. */
  release(): void;
}

export interface Blobs {
  readonly limits: BlobLimits;
  /** Receives an upload. @throws ApiError payload_too_large, StoreError */
  take(source: AsyncIterable<Uint8Array>): Promise<ArrivedBlob>;
  pathOf(sha256: Digest): string;
  /**
   * Removes blobs that had no reference for an hour; the delay lets a running backup copy them.
   * @param neededOf returns the given digests that rows reference
   * @returns the number of removed blobs
   */
  sweep(neededOf: (names: readonly string[]) => Promise<ReadonlySet<string>>): Promise<number>;
}

/** Subfolder of uploads in progress. */
const incomingFolder = 'incoming';
const unneededForMs = 3_600_000;
const namesAtOnce = 500;

export const blobPath = (folder: string, sha256: Digest): string => join(folder, sha256.slice(0, 2), sha256);

export function createBlobs(options: {
  readonly folder: string;
  readonly limits: BlobLimits;
  readonly nowMs: () => number;
}): Blobs {
  const { folder, limits, nowMs } = options;
  const incoming = join(folder, incomingFolder);
  const pathOf = (sha256: Digest): string => blobPath(folder, sha256);
  /** Time of the first sweep that found the content unreferenced, ms since the epoch, by digest. */
  const unneeded = new Map<string, number>();

  const persist = async (unfinished: string, sha256: Digest): Promise<void> => {
    const path = pathOf(sha256);
    // The steps up to the rename are synchronous, because a sweep between them could remove the existing
    // file.
    unneeded.delete(sha256);
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    if (existsSync(path)) rmSync(unfinished, { force: true });
    else renameSync(unfinished, path);
    await syncPathLater(join(path, '..'));
    await syncPathLater(folder);
  };

  return {
    limits,
    pathOf,
    async take(source) {
      const unfinished = join(incoming, randomUUID());
      const release = (): void => rmSync(unfinished, { force: true });
      try {
        makePrivateDir(folder);
        makePrivateDir(incoming);
        makePrivateFile(unfinished);
        const { sha256, bytes } = await write(unfinished, source, limits.fileBytesMax);
        return { sha256, bytes, release, persist: () => persist(unfinished, sha256).catch(refuse) };
      } catch (error) {
        release();
        return refuse(error);
      }
    },
    async sweep(neededOf) {
      const names = blobsIn(folder);
      let removed = 0;
      for (let at = 0; at < names.length; at += namesAtOnce) {
        const some = names.slice(at, at + namesAtOnce);
        const needed = await neededOf(some);
        for (const name of some) {
          const since = unneeded.get(name);
          if (needed.has(name)) unneeded.delete(name);
          else if (since === undefined) unneeded.set(name, nowMs());
          else if (nowMs() - since >= unneededForMs) {
            rmSync(pathOf(name), { force: true });
            unneeded.delete(name);
            removed++;
          }
        }
      }
      return removed;
    },
  };
}

/** Removes uploads that an earlier process left unfinished. Only the process that holds the lock of the directory may call this. */
export function clearIncoming(folder: string): void {
  rmSync(join(folder, incomingFolder), { recursive: true, force: true });
}

async function write(
  path: string,
  source: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<{ sha256: Digest; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await open(path, 'r+');
  try {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLargeFile(bytesMax);
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { sha256: hash.digest('hex') as Digest, bytes };
}

export function tooLargeFile(bytesMax: number): ApiError {
  return new ApiError(
    'payload_too_large',
    `The file is too large. Upload a file of at most ${Math.floor(bytesMax / 1024 / 1024)} MiB.`,
  );
}

/** Turns a disk error into a StoreError; rethrows any other error, such as an aborted request, unchanged. */
function refuse(error: unknown): never {
  const isOfSystem = error instanceof Error && 'syscall' in error;
  throw isOfSystem && !(error instanceof StoreError) ? diskFaultOf(error) : error;
}

/** Returns the digests of all blobs in a folder; files with other names are ignored. */
export function blobsIn(folder: string): Digest[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((start) => readdirSync(join(folder, start)).filter((name) => name.startsWith(start)))
    .flatMap((name) => digestIn(name) ?? []);
}
