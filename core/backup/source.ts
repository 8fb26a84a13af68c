// What can be restored: one backup file, a snapshot that an upgrade took, or a continuous copy at a moment that it reaches.
import { closeSync, copyFileSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findDamage, readArchivedFiles, readFacts, type DatabaseFacts } from '../store/copied-database.ts';
import { assembleAt } from './copy/assemble.ts';
import type { Destination } from './copy/destination.ts';
import { bringFiles, filesOfCopy, filesOfDirectory } from './copy/files.ts';
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
  /** It is a way back to an earlier program: what is restored keeps its schema. */
  readonly keepsSchema?: true;
  bring(folder: string, onProgress: (done: number, of: number) => void): Promise<Brought>;
}

/**
 * @param where an absolute path, or the address of a continuous copy
 * @param toMs a moment (milliseconds); null is the newest
 * @param openCopy opens the continuous copy there
 * @throws Error that says what to do, DamagedBackup
 */
export async function openSource(
  where: string,
  toMs: number | null,
  openCopy: (where: string) => Destination,
): Promise<Source> {
  if (isCopy(where)) return copySource(openCopy(where), toMs);
  if (!existsSync(where)) throw new Error(`There is no backup at ${where}.`);
  const head = headOf(where);
  if (isLive(where, head))
    throw new Error(
      `${where} is the database of a data directory, not a backup: what was written last may lie in other files beside it. ` +
        `Start a server on the directory (\`tatami serve --data-dir ${dirname(where)}\`), or make a backup of it ` +
        `(\`tatami backup FOLDER --data-dir ${dirname(where)}\`) and restore that.`,
    );
  const source = isDatabase(head) ? snapshotSource(where) : await backupSource(where);
  if (toMs !== null)
    throw new Error(
      `${where} holds one moment. Leave --to away, or name a continuous copy, which reaches any moment.`,
    );
  return source;
}

async function backupSource(where: string): Promise<Source> {
  const { manifest } = await readManifest(where);
  return {
    schema: manifest.schema,
    async bring(folder, onProgress) {
      const unpacked = await unpackChecked(where, folder, onProgress);
      return { facts: manifest, at: manifest.createdAt, key: unpacked.key };
    },
  };
}

/** A database as an upgrade leaves it in `snapshots`. */
function snapshotSource(where: string): Source {
  return {
    schema: null,
    keepsSchema: true,
    async bring(folder, onProgress) {
      const database = join(folder, 'tatami.db');
      copyFileSync(where, database);
      onProgress(1, 2);
      // It lies in `snapshots` of a data directory, whose files of old events never change.
      const archive = join(dirname(resolve(where)), '..', 'archive');
      await bringFiles(filesOfDirectory(archive), readArchivedFiles(database), folder);
      return { ...checked(database), at: statSync(where).mtime.toISOString(), key: null };
    },
  };
}

function copySource(copy: Destination, toMs: number | null): Source {
  return {
    schema: null,
    async bring(folder, onProgress) {
      const database = join(folder, 'tatami.db');
      const { timeMs } = await assembleAt(copy, toMs, database, { onProgress });
      await bringFiles(filesOfCopy(copy), readArchivedFiles(database), folder);
      // Assembling it has found it whole.
      return { facts: readFacts(database), at: new Date(timeMs).toISOString(), key: null };
    },
  };
}

/** @throws Error where it is damaged */
function checked(database: string): Pick<Brought, 'facts'> {
  const [damage] = findDamage(database);
  if (damage !== undefined) throw new Error(`What was to be restored is damaged: ${damage}`);
  return { facts: readFacts(database) };
}

/** The beginning of a file; shorter where the file is. */
function headOf(path: string): Buffer {
  const head = Buffer.alloc(20);
  const fd = openSync(path, 'r');
  try {
    return head.subarray(0, readSync(fd, head, 0, head.length, 0));
  } finally {
    closeSync(fd);
  }
}

const isDatabase = (head: Buffer): boolean =>
  head.length === 20 && head.toString('latin1', 0, 16) === 'SQLite format 3\0';

/** A server's file says in two bytes that it goes with a write-ahead log; what `VACUUM INTO` wrote does not. */
function isLive(path: string, head: Buffer): boolean {
  if (!isDatabase(head)) return false;
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false });
  return head[18] === 2 || head[19] === 2 || (wal !== undefined && wal.size > 0);
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
