// The contents of files, each once for the whole server, in `blobs/` under its SHA-256. Which workspace has which is said by rows alone:
// how long it takes to store one, and what is answered, is the same whether it was there or not. It is there whole before a row names it;
// what no row names any more is removed after a while.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../lib/errors.ts';
import { diskFaultOf } from './engine-errors.ts';
import { makePrivateDir, makePrivateFile } from './private.ts';
import { StoreError } from './store.ts';
import { syncPathLater } from './whole-file.ts';

declare const checked: unique symbol;
/** SHA-256 of a content, checked: the only text that a path of a content is built from. */
export type Digest = string & { readonly [checked]: true };

const digest = /^[0-9a-f]{64}$/;

/** Null for any text but 64 hexadecimal digits in lower case. */
export const digestIn = (text: string): Digest | null => (digest.test(text) ? (text as Digest) : null);

export interface BlobLimits {
  /** Of one file. */
  readonly fileBytesMax: number;
  /** Of all files of a workspace. */
  readonly workspaceBytesMax: number;
}

/** What was sent, whole and checked in, and not yet under its name. */
export interface ArrivedBlob {
  readonly sha256: Digest;
  readonly bytes: number;
  /** Has it under its name, durably. Called before the commit of the row that names it. @throws StoreError */
  keep(): Promise<void>;
  /** Forgets it, unless it was kept. */
  release(): void;
}

export interface Blobs {
  readonly limits: BlobLimits;
  /** @throws ApiError payload_too_large, StoreError */
  take(source: AsyncIterable<Uint8Array>): Promise<ArrivedBlob>;
  pathOf(sha256: Digest): string;
  /**
   * Removes what was not needed for an hour. Whoever makes a backup meanwhile has the time to read it.
   * @param neededOf those of some names that rows name
   * @returns how many it removed
   */
  sweep(neededOf: (names: readonly string[]) => Promise<ReadonlySet<string>>): Promise<number>;
}

/** Inside the folder, for what is on its way. */
const incomingFolder = 'incoming';
const unneededForMs = 3_600_000;
const namesAtOnce = 500;

/** Where a content lies in its folder. */
export const blobPath = (folder: string, sha256: Digest): string => join(folder, sha256.slice(0, 2), sha256);

export function createBlobs(options: {
  readonly folder: string;
  readonly limits: BlobLimits;
  readonly nowMs: () => number;
}): Blobs {
  const { folder, limits, nowMs } = options;
  const incoming = join(folder, incomingFolder);
  const pathOf = (sha256: Digest): string => blobPath(folder, sha256);
  /** Since when a blob has been seen without a row. */
  const unneeded = new Map<string, number>();

  const keep = async (unfinished: string, sha256: Digest): Promise<void> => {
    const path = pathOf(sha256);
    // At once, so that no sweep gets in between: one that is under way looks here before it removes anything.
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
        return { sha256, bytes, release, keep: () => keep(unfinished, sha256).catch(refuse) };
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

/** What an earlier process was sent and did not keep is nobody's. Called by the one that holds the directory. */
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
    `A file has at most ${Math.floor(bytesMax / 1024 / 1024)} MiB here.`,
  );
}

/** A fault of the disk is the store's; whoever broke off is told as they are. */
function refuse(error: unknown): never {
  const isOfSystem = error instanceof Error && 'syscall' in error;
  throw isOfSystem && !(error instanceof StoreError) ? diskFaultOf(error) : error;
}

/** The names of all contents of a folder; files with other names are ignored. */
export function blobsIn(folder: string): Digest[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((start) => readdirSync(join(folder, start)).filter((name) => name.startsWith(start)))
    .flatMap((name) => digestIn(name) ?? []);
}
