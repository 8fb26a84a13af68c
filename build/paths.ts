// Where the build finds and leaves things.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const root = join(import.meta.dir, '..');
/** What is slow to make or to fetch, by hash. It goes with the dependencies. */
export const cacheDir = join(root, 'node_modules/.cache/tatami-build');

/** Whole or not at all, because two builds may share the cache. */
export function writeCached(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const making = `${path}.${process.pid}`;
  writeFileSync(making, content);
  renameSync(making, path);
}
