// Opens the data directory as a Store: lock, snapshot and migrations, tenant guard, log head.
import { openDataDir, type DataDir } from './data-dir.ts';
import { openFileEngine } from './file-engine.ts';
import { migrate, type MigrationReport } from './migrate.ts';
import type { ChargeRead } from './readers.ts';
import { makeShrinkable, type Shrinkable } from './shrinkable.ts';
import type { Store } from './store.ts';
import { writerThread } from './writer/thread.ts';

export interface OpenedStore {
  store: Store;
  dataDir: DataDir;
  migration: MigrationReport;
  shrinkable: Shrinkable;
  close(): Promise<void>;
}

/** @throws Error when the directory is in use, the schema is newer, or the log lost acknowledged writes. */
export function openStore(
  path: string,
  nowMs: () => number,
  {
    onStep,
    ...reads
  }: {
    budgetMs: number;
    charge: ChargeRead;
    /** Told of each step of an upgrade, which may take long, before it begins. */
    onStep?: (message: string) => void;
  } = { budgetMs: 0, charge: () => undefined },
): OpenedStore {
  // It gets ready meanwhile.
  writerThread();
  const dataDir = openDataDir(path);
  try {
    const migration = migrate({
      path: dataDir.database,
      snapshots: dataDir.snapshots,
      nowMs,
      ...(onStep && { onStep }),
    });
    const shrinkable = makeShrinkable(dataDir.database);
    const store = openFileEngine({ path: dataDir.database, logHead: dataDir.logHead, ...reads });
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
