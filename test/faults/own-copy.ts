// A copy of a data directory as its killed process left it: with an identity of its own files, where a start would refuse the copy.
import { join } from 'node:path';
import { readIdentity, writeIdentity } from '../../core/store/integrity/identity.ts';

/** By another process: to open and close a database's file here would drop SQLite's locks on it. */
export function copyAsKilled(from: string, to: string): string {
  const { exitCode } = Bun.spawnSync(['cp', '-r', from, to]);
  if (exitCode !== 0) throw new Error(`cp ended with ${exitCode}`);
  return ownCopy(to);
}

function ownCopy(dir: string): string {
  const path = join(dir, 'identity');
  const identity = readIdentity(path);
  if (!identity) throw new Error(`${path} cannot be read.`);
  const kept = { database: join(dir, 'tatami.db'), logHead: join(dir, 'log-head') };
  writeIdentity(path, kept, identity.state, identity.head);
  return dir;
}
