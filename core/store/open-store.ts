// Opens the data directory as a Store: lock, identity, page checksums, snapshot and migrations, tenant guard, log head.
import { join } from 'node:path';
import type { Log } from '../lib/log.ts';
import { createProblems, type Problems } from '../lib/problems.ts';
import { openDataDir, type DataDir } from './data-dir.ts';
import { openFileEngine, type FileStore } from './file-engine.ts';
import { describeDamage, wayBack } from './integrity/damage.ts';
import { writeIdentity } from './integrity/identity.ts';
import { headOf, type Directory } from './integrity/recognise.ts';
import { startDirectory, type Started } from './integrity/start.ts';
import { watchFiles } from './integrity/watch.ts';
import type { MigrationReport } from './migrate.ts';
import type { ChargeRead } from './readers.ts';
import { StoreError, type Store } from './store.ts';
import { writerThread } from './writer/thread.ts';

export interface OpenedStore {
  store: Store;
  dataDir: DataDir;
  migration: MigrationReport;
  /** Null where it is written; else why the store was opened only to be read. */
  onlyToRead: string | null;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly budgetMs?: number;
  readonly charge?: ChargeRead;
  readonly log?: Log;
  readonly problems?: Problems;
}

/** @throws Error when the directory is in use, is a copy or damaged, the schema is newer, or the log lost acknowledged writes. */
export function openStore(path: string, nowMs: () => number, options: OpenOptions = {}): OpenedStore {
  const {
    budgetMs = 0,
    charge = () => undefined,
    log = () => undefined,
    problems = createProblems(nowMs),
  } = options;
  // It gets ready meanwhile.
  writerThread();
  const dataDir = openDataDir(path);
  const { database, logHead, snapshots } = dataDir;
  const dir: Directory = { path, database, logHead, identity: join(path, 'identity') };
  try {
    const started = startDirectory(dir, { nowMs, snapshots, log, problems });
    const { migration, onlyToRead } = started;
    const store = openFileEngine({
      ...{ path: database, logHead, budgetMs, charge, onlyToRead },
      onDamage: (damage) => problems.raise('damage', `${describeDamage(database, damage)} ${wayBack}`),
    });
    const unwatch = onlyToRead ? () => undefined : watch(dir, store, { log, problems });
    const close = closing({ dir, dataDir, store, started, unwatch });
    return { store, dataDir, migration, onlyToRead: onlyToRead?.fault.message ?? null, close };
  } catch (error) {
    dataDir.release();
    throw error;
  }
}

function watch(
  dir: Directory,
  store: FileStore,
  { log, problems }: { log: Log; problems: Problems },
): () => void {
  return watchFiles(dir, {
    onMoved(which) {
      const message = `${which} was moved, removed or replaced under the running server: what it writes would be lost. Put the file back, or stop the server.`;
      log('error', 'the data directory changed under the server; it takes no writes', { message });
      problems.raise('files_moved', message);
      store.suspend(new StoreError('read_only', message));
    },
    onBack() {
      log('info', 'the files of the data directory are back');
      problems.clear('files_moved');
      store.suspend(null);
    },
  });
}

function closing(of: {
  dir: Directory;
  dataDir: DataDir;
  store: FileStore;
  started: Started;
  unwatch: () => void;
}): () => Promise<void> {
  const { dir, dataDir, store, started, unwatch } = of;
  return async () => {
    unwatch();
    const isWhole = await store.closeWhole();
    if (isWhole) noteClosed(dir);
    started.release();
    dataDir.release();
  };
}

/** From now on a copy of the directory is whole. Where that cannot be written, it counts as one of a running server. */
function noteClosed(dir: Directory): void {
  try {
    writeIdentity(dir.identity, dir, 'closed', headOf(dir));
  } catch {
    // As after a crash.
  }
}
