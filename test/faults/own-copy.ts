// Copies of a data directory: as its killed process left it, adopted because a start would reject the copy; and as a
// server of the test left it, for one that will be killed.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readIdentity, writeIdentity } from '../../core/platform/store/integrity/identity.ts';

/** In another process, because opening and closing a database file here would release SQLite's locks on it. */
function copy(from: string, to: string): void {
  // A file that is removed during the copy makes it fail, so it is retried.
  for (let tries = 3; ; tries--) {
    const { exitCode } = Bun.spawnSync(['cp', '-r', from, to]);
    if (exitCode === 0) return;
    if (tries === 1) throw new Error(`cp ended with ${exitCode}`);
    rmSync(to, { recursive: true, force: true });
  }
}

export function copyAsKilled(from: string, to: string): string {
  copy(from, to);
  return ownCopy(to);
}

/**
 * Call this between a stopped server of this process and one of another process that will be killed. libsql closes a
 * connection once its statements are garbage-collected, and closing the last one checkpoints the log into the file
 * without updating its checksums: the garbage collection must not find the files of the killed server.
 * @returns the directory to continue with; the original one is removed
 */
export function handedOver(dir: string): string {
  const to = `${dir}-handed-over`;
  copy(dir, to);
  rmSync(dir, { recursive: true });
  return to;
}

/** Makes a directory whose files were copied one by one count as created in place. */
export function ownCopy(dir: string): string {
  const path = join(dir, 'identity');
  const identity = readIdentity(path);
  if (!identity) throw new Error(`${path} cannot be read.`);
  const identityFiles = { database: join(dir, 'tatami.db'), logHead: join(dir, 'log-head') };
  writeIdentity(path, identityFiles, identity.state, identity.head);
  return dir;
}
