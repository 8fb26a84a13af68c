// Opens the data directory as a Store: lock, snapshot and migrations, tenant guard, log head.
import type Database from 'libsql';
import { rmSync } from 'node:fs';
import { openDataDir, type DataDir } from './data-dir.ts';
import { openFileEngine, type FileEngine } from './file-engine.ts';
import type { LogHead } from './log-head.ts';
import { migrate, type MigrationReport } from './migrate.ts';
import type { ChargeRead } from './readers.ts';
import { openTaker } from './spool/taker.ts';
import { writerThread } from './writer/thread.ts';

export interface OpenedStore {
  store: FileEngine;
  dataDir: DataDir;
  migration: MigrationReport;
  close(): Promise<void>;
}

/**
 * @param isCopied a continuous copy is made: what is committed is put aside before it is folded into the file
 * @throws Error when the directory is in use, the schema is newer, or the log lost acknowledged writes.
 */
export function openStore(
  path: string,
  nowMs: () => number,
  reads: { budgetMs: number; charge: ChargeRead } = { budgetMs: 0, charge: () => undefined },
  isCopied = false,
): OpenedStore {
  // It gets ready meanwhile.
  writerThread();
  const dataDir = openDataDir(path);
  try {
    const { database, logHead, snapshots, spool } = dataDir;
    if (!isCopied) rmSync(spool, { recursive: true, force: true });
    const migration = isCopied
      ? migrateTaking(dataDir, nowMs)
      : migrate({ path: database, snapshots, nowMs });
    const copying = isCopied ? { spool, nowMs } : null;
    const store = openFileEngine({ path: database, logHead, copying, ...reads });
    const close = async (): Promise<void> => {
      await store.close();
      dataDir.release();
    };
    return { store, dataDir, migration, close };
  } catch (error) {
    dataDir.release();
    throw error;
  }
}

/** What the last server left in the log, and what migrations write there, is put aside before it is folded into the file. */
function migrateTaking({ database, snapshots, spool }: DataDir, nowMs: () => number): MigrationReport {
  const taker = openTaker({ database, spool });
  const beforeFold = (db: InstanceType<typeof Database>): void => {
    try {
      // A commit that was under way when the last server died may be in the log, and SQLite may pass it by and write over it. Behind a
      // write of its own nothing else is left.
      const [row] = db.prepare('PRAGMA user_version').all() as { user_version: number }[];
      db.exec(`PRAGMA user_version = ${row?.user_version ?? 0}`);
      const [head] = db.prepare('SELECT position, hash FROM log_head').all() as LogHead[];
      taker.take({ timeMs: nowMs(), head: head ?? null });
    } catch (error) {
      taker.end(error instanceof Error ? error.message : String(error));
    }
  };
  const migration = migrate({ path: database, snapshots, nowMs, beforeFold });
  taker.folded();
  return migration;
}
