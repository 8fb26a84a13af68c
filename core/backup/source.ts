// What can be restored: one backup file, or a continuous copy at a moment that it reaches.
import { existsSync, readdirSync, statSync } from 'node:fs';
import type { DatabaseFacts } from '../store/copied-database.ts';
import { unpackChecked } from './deep.ts';
import { readManifest } from './unpack.ts';

/** What was put into the folder: `tatami.db` and what lies beside it. */
export interface Brought {
  readonly facts: DatabaseFacts;
  /** ISO 8601: the moment that the database is of. */
  readonly at: string;
  /** As `master.key` holds it; null where the source has none. */
  readonly key: Buffer | null;
}

export interface Source {
  /** Read before anything is written; null where it is not known so early. */
  readonly schema: number | null;
  bring(folder: string, onProgress: (done: number, of: number) => void): Promise<Brought>;
}

/**
 * @param where an absolute path, or the address of a continuous copy
 * @param to a moment (ISO 8601); null is the newest
 * @throws Error that says what to do, DamagedBackup
 */
export async function openSource(where: string, to: string | null): Promise<Source> {
  if (isCopy(where))
    throw new Error(
      'This version of Tatami cannot restore from a continuous copy; name a file that `tatami backup` made.',
    );
  if (!existsSync(where)) throw new Error(`There is no backup at ${where}.`);
  const { manifest } = await readManifest(where);
  if (to !== null)
    throw new Error(
      `${where} holds one moment, ${manifest.createdAt}. Leave --to away, or name a continuous copy, which reaches any moment.`,
    );
  return {
    schema: manifest.schema,
    async bring(folder, onProgress) {
      const unpacked = await unpackChecked(where, folder, onProgress);
      return { facts: manifest, at: manifest.createdAt, key: unpacked.key };
    },
  };
}

/** @throws Error where it is a folder of backups */
function isCopy(where: string): boolean {
  if (where.startsWith('s3://')) return true;
  if (!statSync(where, { throwIfNoEntry: false })?.isDirectory()) return false;
  const newest = readdirSync(where)
    .filter((name) => name.endsWith('.backup'))
    .sort()
    .at(-1);
  if (newest !== undefined)
    throw new Error(`${where} is a folder of backups: name one of them, such as the newest, ${newest}.`);
  return true;
}
