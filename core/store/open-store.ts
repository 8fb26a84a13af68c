// Opens the data directory as a Store: lock, identity, page checksums, snapshot and migrations, tenant guard, log head.
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Log } from '../lib/log.ts';
import { createProblems, type Problems } from '../lib/problems.ts';
import { openDataDir, type DataDir } from './data-dir.ts';
import { diskFaultOf } from './engine-errors.ts';
import { openFileEngine, type FileEngine } from './file-engine.ts';
import { describeDamage, wayBack } from './integrity/damage.ts';
import { filesOf, writeIdentity } from './integrity/identity.ts';
import { headOf, type Directory } from './integrity/recognise.ts';
import { startDirectory, type Started } from './integrity/start.ts';
import { watchFiles } from './integrity/watch.ts';
import type { MigrationReport } from './migrate.ts';
import type { ChargeRead } from './readers.ts';
import type { Shrinkable } from './shrinkable.ts';
import { StoreError } from './store.ts';
import { writerThread } from './writer/thread.ts';

export interface OpenedStore {
  store: FileEngine;
  dataDir: DataDir;
  migration: MigrationReport;
  shrinkable: Shrinkable;
  /** Null where it is written; else why the store was opened only to be read. */
  onlyToRead: string | null;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly budgetMs: number;
  readonly charge: ChargeRead;
  readonly log: Log;
  readonly problems: Problems;
  /**
   * A continuous copy is made: what is committed is put aside for it before it is folded into the file. Where none is made, what an
   * earlier one has not sent goes; where it is unknown, as to a command beside the server, that stays.
   */
  readonly isCopied: boolean | 'unknown';
}

/** @throws Error when the directory is in use, is a copy or damaged, the schema is newer, or the log lost acknowledged writes. */
export function openStore(path: string, nowMs: () => number, given: Partial<OpenOptions> = {}): OpenedStore {
  const options: OpenOptions = {
    budgetMs: 0,
    charge: () => undefined,
    log: () => undefined,
    problems: createProblems(nowMs),
    isCopied: 'unknown',
    ...given,
  };
  // It gets ready meanwhile.
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
  const { path, database, logHead, snapshots, spool } = dataDir;
  const dir: Directory = { path, database, logHead, identity: join(path, 'identity') };
  const copying = isCopied === true ? { spool, nowMs } : null;
  const started = startDirectory(dir, { nowMs, snapshots, log, problems, spool: copying?.spool ?? null });
  if (isCopied === false) dropSpool(spool);
  const { migration, shrinkable, onlyToRead } = started;
  const store = openFileEngine({
    ...{ path: database, logHead, budgetMs, charge, onlyToRead, copying },
    onArchiveDamage: (message) =>
      message === null ? problems.clear('archive') : problems.raise('archive', message),
    onDamage: (damage) =>
      problems.raise('damage', `${describeDamage(basename(database), damage)} ${wayBack}`),
  });
  const unwatch = onlyToRead ? () => false : watch(dir, store, { log, problems });
  const close = closing({ dir, dataDir, store, started, unwatch });
  return {
    ...{ store, dataDir, migration, shrinkable, close },
    onlyToRead: onlyToRead?.fault.message ?? null,
  };
}

/** Of a copy that is not made any more. Where it cannot be removed nothing can be written at all, which is told further on. */
function dropSpool(spool: string): void {
  try {
    rmSync(spool, { recursive: true, force: true });
  } catch (error) {
    if (diskFaultOf(error).fault === 'broken') throw error;
  }
}

function watch(
  dir: Directory,
  store: FileEngine,
  { log, problems }: { log: Log; problems: Problems },
): () => boolean {
  return watchFiles(dir, {
    onMoved(which) {
      const message = `${which} was moved, removed or replaced under the running server: what it writes would be lost. Put the file back, or stop the server.`;
      log('error', 'the data directory changed under the server; it takes no writes', { message });
      problems.raise('files_moved', message.replace(dir.path, 'The data directory'));
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
  store: FileEngine;
  started: Started;
  /** Tells whether the files were moved. */
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
 * From now on a copy of the directory is whole. Where that cannot be written, it counts as one of a running server.
 * @param files that were open: others in their place may be a copy that was made meanwhile
 */
function noteClosed(dir: Directory, files: string | null): void {
  try {
    if (filesOf(dir) !== files) return;
    writeIdentity(dir.identity, dir, 'closed', headOf(dir));
  } catch {
    // As after a crash.
  }
}
