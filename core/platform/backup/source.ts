// Sources of a restore: a backup file, a snapshot of an upgrade, or a continuous copy at a point in time.
import { closeSync, copyFileSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  findDamage,
  readArchivedFiles,
  readFacts,
  type DatabaseFacts,
} from '../store/files/copied-database.ts';
import { assembleAt } from './copy/assemble.ts';
import type { Destination } from './copy/destination/destination.ts';
import { bringFiles, filesOfCopy, filesOfDirectory } from './copy/files.ts';
import { unpackChecked } from './make.ts';
import { readManifest } from './unpack.ts';

/** Result of writing `tatami.db` and its accompanying files into the folder. */
export interface RestoredDatabase {
  readonly facts: DatabaseFacts;
  /** Time of the database state, ISO 8601. */
  readonly at: string;
  /** Content of `master.key`; null if the source has none. */
  readonly key: Buffer | null;
}

export interface BackupSource {
  /** Schema version; null if it is known only after the data was read. */
  readonly schema: number | null;
  /** Set for snapshots, which restore an earlier version: their database is not migrated. */
  readonly retainsSchema?: true;
  bring(folder: string, onProgress: (done: number, of: number) => void): Promise<RestoredDatabase>;
}

/**
 * @param where absolute path, or address of a continuous copy
 * @param toMs point in time, ms since the epoch; null for the newest
 * @param openCopy opens the continuous copy at the address
 * @throws Error that states the remedy, DamagedBackup
 */
export async function openSource(
  where: string,
  toMs: number | null,
  openCopy: (where: string) => Destination,
): Promise<BackupSource> {
  if (isCopy(where)) return copySource(openCopy(where), toMs);
  if (!existsSync(where)) throw new Error(`There is no backup at ${where}. Check the path.`);
  const head = headOf(where);
  if (isLive(where, head))
    throw new Error(
      `${where} is the database of a data directory, not a backup: its latest writes may be in other files beside it. ` +
        `Start a server on the directory (\`tatami serve --data-dir ${dirname(where)}\`), or make a backup of it ` +
        `(\`tatami backup FOLDER --data-dir ${dirname(where)}\`) and restore that.`,
    );
  const source = isDatabase(head) ? snapshotSource(where) : await backupSource(where);
  if (toMs !== null)
    throw new Error(
      `${where} contains a single point in time. Omit --to, or specify a continuous copy, which covers any point in time.`,
    );
  return source;
}

async function backupSource(where: string): Promise<BackupSource> {
  const manifest = await readManifest(where);
  return {
    schema: manifest.schema,
    async bring(folder, onProgress) {
      const unpacked = await unpackChecked(where, folder, onProgress);
      return { facts: manifest, at: manifest.createdAt, key: unpacked.key };
    },
  };
}

/** Source for a snapshot that an upgrade stored in `snapshots`. */
function snapshotSource(where: string): BackupSource {
  return {
    schema: null,
    retainsSchema: true,
    async bring(folder, onProgress) {
      const database = join(folder, 'tatami.db');
      copyFileSync(where, database);
      onProgress(1, 2);
      // The snapshot is in `snapshots` of a data directory, whose archive files never change.
      const archive = join(dirname(resolve(where)), '..', 'archive');
      await bringFiles(filesOfDirectory(archive), readArchivedFiles(database), folder);
      return { facts: checkedFacts(database), at: statSync(where).mtime.toISOString(), key: null };
    },
  };
}

function copySource(copy: Destination, toMs: number | null): BackupSource {
  return {
    schema: null,
    async bring(folder, onProgress) {
      const database = join(folder, 'tatami.db');
      const { timeMs } = await assembleAt(copy, toMs, database, { onProgress });
      await bringFiles(filesOfCopy(copy), readArchivedFiles(database), folder);
      // `assembleAt` has already checked the database.
      return { facts: readFacts(database), at: new Date(timeMs).toISOString(), key: null };
    },
  };
}

/** @throws Error if the database is damaged */
function checkedFacts(database: string): DatabaseFacts {
  const [damage] = findDamage(database);
  if (damage !== undefined)
    throw new Error(`The snapshot is damaged: ${damage}. Use another snapshot or a backup.`);
  return readFacts(database);
}

/** Returns the first 20 bytes of a file, or fewer if it is shorter. */
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

/** Two header bytes of a server's file mark WAL mode; files written by `VACUUM INTO` have other values. */
function isLive(path: string, head: Buffer): boolean {
  if (!isDatabase(head)) return false;
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false });
  return head[18] === 2 || head[19] === 2 || (wal !== undefined && wal.size > 0);
}

/** @throws Error if the path is a folder of backups */
function isCopy(where: string): boolean {
  if (where.startsWith('s3://')) return true;
  if (!statSync(where, { throwIfNoEntry: false })?.isDirectory()) return false;
  const newest = readdirSync(where)
    .filter((name) => name.endsWith('.backup'))
    .sort()
    .at(-1);
  if (newest !== undefined)
    throw new Error(`${where} is a folder of backups. Specify one of them, such as the newest, ${newest}.`);
  return true;
}
