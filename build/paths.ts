import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const root = join(import.meta.dir, '..');
/** Cache of slow builds and downloads, by hash. It is removed together with node_modules. */
export const cacheDir = join(root, 'node_modules/.cache/tatami-build');

/** Writes atomically, because two builds may share the cache. */
export function writeCached(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const making = `${path}.${process.pid}`;
  writeFileSync(making, content);
  renameSync(making, path);
}
