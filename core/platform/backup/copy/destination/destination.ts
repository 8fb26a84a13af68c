// Destination of a continuous copy, a folder or an S3-compatible store, with four operations on named objects.
import { openS3, type S3Settings } from './s3.ts';
import { open, readFile, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makePrivateDir } from '../../../store/files/private.ts';
import { syncPathLater } from '../../../store/files/installation.ts';

export interface Destination {
  /** Name for messages, without credentials. */
  readonly title: string;
  /** Path of the folder, on which a disk may have to be mounted; null for an S3-compatible store. */
  readonly folder: string | null;
  /** Writes an object atomically. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** @throws Error if the object does not exist */
  get(name: string): Promise<Uint8Array>;
  /** Returns the names with the prefix, ascending. */
  list(prefix?: string): Promise<string[]>;
  /** Deletes objects; ignores missing ones. */
  delete(names: readonly string[]): Promise<void>;
}

// Stores a copy in a folder, which is private to the user like the data directory.

const unfinished = '.new';

export function openFolder(root: string): Destination {
  return {
    title: root,
    folder: root,
    async put(name, bytes) {
      const path = join(root, name);
      makePrivateDir(dirname(path));
      // Writing through an existing symbolic link would overwrite its target.
      await rm(path + unfinished, { force: true });
      const file = await open(path + unfinished, 'wx', 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(path + unfinished, path);
      await syncPathLater(dirname(path));
    },
    get: async (name) => readFile(join(root, name)),
    async list(prefix = '') {
      const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(ifMissing);
      return entries
        .filter((entry) => entry.isFile() && !entry.name.endsWith(unfinished))
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
        .filter((name) => name.startsWith(prefix))
        .sort();
    },
    async delete(names) {
      for (const name of names) await rm(join(root, name), { force: true });
      // Removes folders that are empty now; `rmdir` fails for others.
      const folders = new Set(names.flatMap((name) => parents(name)));
      for (const folder of [...folders].sort((a, b) => b.length - a.length))
        await rmdir(join(root, folder)).catch(() => undefined);
    },
  };
}

const parents = (name: string): string[] => {
  const parent = dirname(name);
  return parent === '.' ? [] : [parent, ...parents(parent)];
};

function ifMissing(error: unknown): [] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}

/** @param where absolute path, or `s3://bucket/prefix` */
export function openDestination(where: string, s3: S3Settings): Destination {
  return where.startsWith('s3://') ? openS3(where, s3) : openFolder(where);
}
