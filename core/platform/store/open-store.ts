// Opens the data directory as a Store: lock, identity, page checksums, snapshot and migrations, tenant guard, log head.
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Log } from '../lib/log.ts';
import { createProblems, type Problems } from '../lib/errors/failures.ts';
import { openDataDir, type DataDir } from './files/data-dir.ts';
import { diskFaultOf } from './engine/engine-errors.ts';
import { openFileEngine, type FileEngine } from './engine/file-engine.ts';
import { describeDamage, wayBack } from './integrity/damage.ts';
import { filesOf, writeIdentity, type IdentityFiles, type DataDirectory } from './integrity/identity.ts';
import { readLogHead } from './log-head.ts';
import { startDirectory, type Started } from './integrity/start.ts';
import type { MigrationReport } from './migrate.ts';
import type { ChargeRead } from './engine/readers.ts';
import { StoreError } from './store.ts';
import { writerThread } from './writer/thread.ts';
import { stat } from 'node:fs/promises';

export interface OpenedStore {
  store: FileEngine;
  dataDir: DataDir;
  migration: MigrationReport;
  /** Reason why the store is read-only; null if it is writable. */
  onlyToRead: string | null;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly budgetMs: number;
  readonly charge: ChargeRead;
  readonly log: Log;
  readonly problems: Problems;
  /**
   * True if a continuous copy is made: committed frames are archived for it before each checkpoint. False
   * removes the unsent segments of an earlier copy. `unknown`, for commands other than the server, leaves
   * them.
   */
  readonly isCopied: boolean | 'unknown';
}

/** @throws Error if the directory is in use, is a copy or damaged, if the schema is newer, or if the log lost acknowledged writes */
export function openStore(
  path: string,
  nowMs: () => number,
  overrides: Partial<OpenOptions> = {},
): OpenedStore {
  const options: OpenOptions = {
    budgetMs: 0,
    charge: () => undefined,
    log: () => undefined,
    problems: createProblems(nowMs),
    isCopied: 'unknown',
    ...overrides,
  };
  // Starts the thread early, so that it loads in parallel.
  writerThread();
  const dataDir = openDataDir(path);
  try {
    return openDirectory(dataDir, nowMs, options);
  } catch (error) {
    dataDir.release();
    throw error;
  }
}

function openDirectory(
  dataDir: DataDir,
  nowMs: () => number,
  { budgetMs, charge, log, problems, isCopied }: OpenOptions,
): OpenedStore {
  const { path, database, logHead, snapshots, walArchive } = dataDir;
  const dir: DataDirectory = { path, database, logHead, identity: join(path, 'identity') };
  const copying = isCopied === true ? { walArchive, nowMs } : null;
  const started = startDirectory(dir, {
    nowMs,
    snapshots,
    log,
    problems,
    walArchive: copying?.walArchive ?? null,
  });
  if (isCopied === false) dropWalArchive(walArchive);
  const { migration, onlyToRead } = started;
  const store = openFileEngine({
    path: database,
    logHead,
    budgetMs,
    charge,
    onlyToRead,
    copying,
    onArchiveDamage: (message) =>
      message === null ? problems.clear('archive') : problems.raise('archive', message),
    onDamage: (damage) =>
      problems.raise('damage', `${describeDamage(basename(database), damage)} ${wayBack}`),
  });
  const unwatch = onlyToRead ? () => false : watch(dir, store, { log, problems });
  const close = closing({ dir, dataDir, store, started, unwatch });
  return {
    store,
    dataDir,
    migration,
    close,
    onlyToRead: onlyToRead?.fault.message ?? null,
  };
}

/**
 * Removes the unsent segments of a continuous copy that is no longer configured. Ignores errors of a read-only or
 * full disk, which `startDirectory` reports.
 */
function dropWalArchive(walArchive: string): void {
  try {
    rmSync(walArchive, { recursive: true, force: true });
  } catch (error) {
    if (diskFaultOf(error).fault === 'broken') throw error;
  }
}

// Detects if the files that a server has open were moved or replaced, because no later start would find writes to them. Uses only `stat` by
// path: opening and closing a file would drop SQLite's locks.

const everyMs = 1_000;

/** @returns a function that stops the watch and returns true if the files are currently moved */
function watchFiles(
  { database, logHead }: IdentityFiles,
  listener: { onMoved(which: string): void; onBack(): void },
): () => boolean {
  const paths = [database, logHead];
  let opened: (string | null)[] | null = null;
  let isMoved = false;
  let looking = false;
  const look = async (): Promise<void> => {
    const now = await Promise.all(paths.map(identityOf));
    opened ??= now;
    const moved = paths.find((_, index) => now[index] !== opened?.[index]);
    if (moved !== undefined && !isMoved) listener.onMoved(moved);
    if (moved === undefined && isMoved) listener.onBack();
    isMoved = moved !== undefined;
    looking = false;
  };
  const lookOnce = (): void => {
    if (looking) return;
    looking = true;
    void look();
  };
  lookOnce();
  const timer = setInterval(lookOnce, everyMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    return isMoved;
  };
}

/** Returns null if the file is missing or its status is unavailable. */
async function identityOf(path: string): Promise<string | null> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

function watch(
  dir: DataDirectory,
  store: FileEngine,
  { log, problems }: { log: Log; problems: Problems },
): () => boolean {
  return watchFiles(dir, {
    onMoved(which) {
      const message = `${which} was moved, removed or replaced while the server was running: its writes would be lost. Restore the file, or stop the server.`;
      log('error', 'the data directory changed while the server was running; writes are rejected', {
        message,
      });
      problems.raise('files_moved', message.replace(dir.path, 'The data directory'));
      store.suspend(new StoreError('read_only', message));
    },
    onBack() {
      log('info', 'the files of the data directory were restored; writes are accepted again');
      problems.clear('files_moved');
      store.suspend(null);
    },
  });
}

function closing(of: {
  dir: DataDirectory;
  dataDir: DataDir;
  store: FileEngine;
  started: Started;
  /** Stops watching. Returns true if the files are moved. */
  unwatch: () => boolean;
}): () => Promise<void> {
  const { dir, dataDir, store, started, unwatch } = of;
  const files = started.onlyToRead ? null : filesOf(dir);
  return async () => {
    const isMoved = unwatch();
    const isWhole = await store.closeWhole();
    if (isWhole && !isMoved) noteClosed(dir, files);
    started.release();
    dataDir.release();
  };
}

/**
 * Records that the server was stopped, so that a copy made from now on is complete. If the write fails, a copy counts as one of a running
 * server.
 * @param files identity of the files that were open: files in their place may be a copy made meanwhile
 */
function noteClosed(dir: DataDirectory, files: string | null): void {
  try {
    if (filesOf(dir) !== files) return;
    writeIdentity(dir.identity, dir, 'closed', readLogHead(dir.logHead));
  } catch {
    // The next start proceeds as after a crash.
  }
}
