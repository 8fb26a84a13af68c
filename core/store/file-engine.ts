// The embedded engine: libsql over one file. The writer thread commits groups of batches at synchronous=FULL; the event loop reads through
// its own connection, whose snapshot moves only between groups, and long reads go to a reader pool.
import Database from 'libsql';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createArchive } from './archive.ts';
import { createCompiler, type Compile } from './compile.ts';
import { createReads, readRows } from './engine-reads.ts';
import { describeDamage, type Damage } from './integrity/damage.ts';
import { createDamageGuard, type DamageGuard } from './integrity/damage-guard.ts';
import { incompleteCopy } from './integrity/recognise.ts';
import { readOnlyUri } from './integrity/uri.ts';
import { checkHead, emptyHead, openLogHead, readLogHead, type LogHead } from './log-head.ts';
import { createReaders, type ChargeRead } from './readers.ts';
import { holdSnapshot, type Snapshot } from './snapshot.ts';
import { registeredStatements, systemStatement } from './statement.ts';
import { StoreError, type Store } from './store.ts';
import { createEncoder } from './writer/encode.ts';
import { GroupCommit, type Writes } from './writer/group-commit.ts';
import { createNoWrites } from './writer/no-writes.ts';
import { writerThread, type Copying, type OpenWriter } from './writer/thread.ts';
import type { TakeOrder } from './writer/wire.ts';

/** Pragmas of the event loop's connection. */
const pragmas = ['query_only = ON', 'busy_timeout = 0', 'cache_size = -65536', 'temp_store = MEMORY'];

const readHead = systemStatement<{ position: number; hash: string }>(
  'log_head.read',
  'the log head covers the whole installation',
  'SELECT position, hash FROM log_head WHERE id = 1',
);

/** Reason and settings of a store that is opened read-only. */
export interface OnlyToRead {
  /** Error of every write. */
  readonly fault: StoreError;
  /** SQLite URI of the database. */
  readonly uri: string;
  readonly damage: Damage | null;
}

export interface FileEngineOptions {
  readonly path: string;
  /** Path of the log head file. */
  readonly logHead: string;
  /** CPU time budget of one long read in milliseconds; 0 for unlimited. */
  readonly budgetMs: number;
  readonly charge: ChargeRead;
  /** Settings of the continuous copy; null or missing if there is none. */
  readonly copying?: Copying | null;
  readonly openWriter?: OpenWriter;
  readonly onlyToRead?: OnlyToRead | null;
  /** Called once, when damage is found while the store is open. The store rejects all writes from then on. */
  readonly onDamage?: (damage: Damage) => void;
  /** Called with a message when an archive file cannot be read, and with null once all of them are readable again. */
  readonly onArchiveDamage?: (message: string | null) => void;
}

export interface FileEngine extends Store {
  /** Archives the committed WAL frames for the continuous copy. Does nothing in a closed store. */
  take(order: TakeOrder): Promise<void>;
  /** Rejects every write with this fault, until called with null. */
  suspend(fault: StoreError | null): void;
  /**
   * Closes the store as `close` does.
   * @returns true if the database file contains every commit and the WAL is empty
   */
  closeWhole(): Promise<boolean>;
}

/** Interval at which a piece of the file is verified against its checksums. */
const verifyEveryMs = 1_000;

/** Opens a migrated database. @throws Error if a tenant statement breaks the guard, or if the log lost acknowledged writes */
export function openFileEngine(options: FileEngineOptions): FileEngine {
  const { path, logHead, onlyToRead = null } = options;
  const uri = onlyToRead?.uri ?? readOnlyUri(path);
  const db = new Database(uri);
  for (const pragma of pragmas) db.prepare(`PRAGMA ${pragma}`).all();
  const planner = openPlanner(uri);
  const compile = createCompiler(db, planner);
  for (const statement of registeredStatements()) compile(statement);
  const head = startLogHead(logHead, readRows(compile, readHead, {}, null)[0], onlyToRead === null);

  const guard = createDamageGuard(planner);
  if (onlyToRead?.damage) guard.note(onlyToRead.damage);
  const readers = createReaders({ uri, budgetMs: options.budgetMs, charge: options.charge });
  const snapshot = holdSnapshot(db);
  const { writes, verify } = onlyToRead
    ? { writes: createNoWrites(onlyToRead.fault), verify: () => undefined }
    : openWrites(options, { head, compile, snapshot, guard });
  const verifying = setInterval(() => verify(false), verifyEveryMs);
  verifying.unref();
  let closed: Promise<boolean> | null = null;

  const finish = async (): Promise<boolean> => {
    clearInterval(verifying);
    await readers.close();
    return writes.close(() => {
      snapshot.release();
      planner.close();
      db.close();
    });
  };
  const closeWhole = (): Promise<boolean> => (closed ??= finish());

  return {
    archive: createArchive(join(dirname(path), 'archive'), options.onArchiveDamage ?? (() => undefined)),
    ...createReads({
      ...{ compile, readers, guard, commitsProcessed: () => writes.commitsProcessed() },
      onDamage: () => verify(true),
    }),
    commit(ops, { commitDelayMs = 0 } = {}) {
      if (closed) return Promise.reject(new StoreError('broken', 'The store is closed.'));
      return writes.commit(ops, commitDelayMs);
    },
    reclaim: async (pages) =>
      writes.between(async (writer) => {
        const space = await writer.reclaim(pages);
        snapshot.moveOn();
        // The file shrinks only at a checkpoint.
        await writer.checkpoint();
        snapshot.moveOn();
        return space;
      }),
    take: async (order) => void (await writes.between((writer) => writer.take(order))),
    status() {
      const { fault } = writes;
      return { writable: !fault && !closed, reason: fault?.message ?? null };
    },
    counts: () => writes.counts,
    suspend: (fault) => writes.suspend(fault ?? (guard.damage && damagedStore(path, guard.damage))),
    closeWhole,
    close: async () => void (await closeWhole()),
  };
}

const damagedStore = (path: string, damage: Damage): StoreError =>
  new StoreError('damaged', describeDamage(path, damage));

/** Opens the writer, and the check that the written pages are still intact. */
function openWrites(
  { path, logHead, copying = null, openWriter = writerThread().open, onDamage }: FileEngineOptions,
  on: { head: LogHead; compile: Compile; snapshot: Snapshot; guard: DamageGuard },
): { writes: Writes; verify: (all: boolean) => void } {
  const writer = openWriter({ path, logHead, head: on.head, copying });
  const writes = new GroupCommit({
    writer,
    encoder: createEncoder(on.compile),
    onCommitted: on.snapshot.moveOn,
  });
  const verify = (all: boolean): void =>
    writes.aside(async () => {
      const damage = on.guard.damage ? null : await writer.verify(all);
      if (!damage) return;
      on.guard.note(damage);
      writes.suspend(damagedStore(path, damage));
      onDamage?.(damage);
    });
  return { writes, verify };
}

/**
 * Compares the log head file with the head in the database, and updates the file unless the store is read-only.
 * @returns the head at which the log continues
 */
function startLogHead(path: string, inside: LogHead | undefined, mayWrite: boolean): LogHead {
  if (!existsSync(path)) {
    if (inside && inside.position > 0) throw new Error(incompleteCopy(path));
    if (!mayWrite) return checkHead(inside, emptyHead);
  }
  if (!mayWrite) return checkHead(inside, readLogHead(path));
  const file = openLogHead(path);
  try {
    const head = checkHead(inside, file.read());
    file.write(head);
    return head;
  } finally {
    file.close();
  }
}

/**
 * Opens a connection for EXPLAIN only. A virtual table reads its own tables when a connection first uses it. That must happen before any
 * EXPLAIN, because EXPLAIN statements stay in progress and would keep those reads open.
 */
function openPlanner(uri: string): Database.Database {
  const planner = new Database(uri);
  const virtual = planner
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'")
    .all() as { name: string }[];
  for (const { name } of virtual) planner.prepare(`SELECT rowid FROM ${name} LIMIT 0`).all();
  return planner;
}
