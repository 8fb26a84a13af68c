// Stores a copy in a folder, which is private to the user like the data directory.
import { open, readFile, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makePrivateDir } from '../../store/private.ts';
import { syncPathLater } from '../../store/whole-file.ts';
import type { Destination } from './destination.ts';

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
