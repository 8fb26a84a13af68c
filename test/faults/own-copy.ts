// Copies of a data directory: as its killed process left it, with an identity of its own files, where a start would refuse the copy; and
// as a server of the test left it, for one that will be killed.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readIdentity, writeIdentity } from '../../core/store/integrity/identity.ts';

/** By another process: to open and close a database's file here would drop SQLite's locks on it. */
function copy(from: string, to: string): void {
  // A file that is removed while it copies makes it fail: what is left is copied then.
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
 * To be called between a server of this process, which was stopped, and one of another process that will be killed. libsql ends a
 * connection once its statements are collected, and the end of the last one folds the log into the file, behind the back of its checksums:
 * the collection must not find the files of the killed one.
 * @returns the directory to go on with; the one there was is gone
 */
export function handedOver(dir: string): string {
  const to = `${dir}-handed-over`;
  copy(dir, to);
  rmSync(dir, { recursive: true });
  return to;
}

/** A directory whose files were put there one by one becomes the own of its files. */
export function ownCopy(dir: string): string {
  const path = join(dir, 'identity');
  const identity = readIdentity(path);
  if (!identity) throw new Error(`${path} cannot be read.`);
  const identityFiles = { database: join(dir, 'tatami.db'), logHead: join(dir, 'log-head') };
  writeIdentity(path, identityFiles, identity.state, identity.head);
  return dir;
}
