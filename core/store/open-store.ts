// Opens the data directory as a Store: lock, snapshot and migrations, tenant guard, log head.
import { rmSync } from 'node:fs';
import { openDataDir, type DataDir } from './data-dir.ts';
import { openFileEngine, type FileEngine } from './file-engine.ts';
import { migrate, type MigrationReport } from './migrate.ts';
import type { ChargeRead } from './readers.ts';
import { makeShrinkable, type Shrinkable } from './shrinkable.ts';
import { openTaker } from './spool/taker.ts';
import { writerThread } from './writer/thread.ts';

export interface OpenedStore {
  store: FileEngine;
  dataDir: DataDir;
  migration: MigrationReport;
  shrinkable: Shrinkable;
  close(): Promise<void>;
}

/**
 * @param isCopied a continuous copy is made: what is committed is put aside before it is folded into the file
 * @throws Error when the directory is in use, the schema is newer, or the log lost acknowledged writes.
 */
export function openStore(
  path: string,
  nowMs: () => number,
  {
    onStep,
    isCopied = false,
    ...reads
  }: {
    budgetMs: number;
    charge: ChargeRead;
    /** Told of each step of an upgrade, which may take long, before it begins. */
    onStep?: (message: string) => void;
    /** A continuous copy is made: what is folded into the file is put aside for it before. */
    isCopied?: boolean;
  } = { budgetMs: 0, charge: () => undefined },
): OpenedStore {
  // It gets ready meanwhile.
  writerThread();
  const dataDir = openDataDir(path);
  try {
    const { database, logHead, snapshots, spool } = dataDir;
    if (!isCopied) rmSync(spool, { recursive: true, force: true });
    const at = { path: database, snapshots, nowMs, ...(onStep && { onStep }) };
    const migration = isCopied ? migrateTaking(dataDir, at) : migrate(at);
    const shrinkable = makeShrinkable(database);
    const copying = isCopied ? { spool, nowMs } : null;
    const store = openFileEngine({ path: database, logHead, copying, ...reads });
    const close = async (): Promise<void> => {
      await store.close();
      dataDir.release();
    };
    return { store, dataDir, migration, shrinkable, close };
  } catch (error) {
    dataDir.release();
    throw error;
  }
}

/** What the last server left in the log, and what migrations write there, is folded into the file before any engine runs. */
function migrateTaking({ database, spool }: DataDir, at: Parameters<typeof migrate>[0]): MigrationReport {
  const taker = openTaker({ database, spool });
  const take = (): void => taker.take({ timeMs: at.nowMs(), position: null });
  take();
  const migration = migrate({ ...at, beforeFold: take });
  taker.folded();
  return migration;
}
