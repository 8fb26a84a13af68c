// The embedded engine: libsql over one file. The writer thread commits groups of batches at synchronous=FULL; the event loop reads through
// its own connection, whose snapshot moves only between groups, and long reads go to a reader pool.
import Database from 'libsql';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createArchive } from '../files/archive.ts';
import { createCompiler, type Compile } from '../compile.ts';
import { describeDamage, type Damage, createDamageGuard, type DamageGuard } from '../integrity/damage.ts';
import { incompleteCopy } from '../integrity/identity.ts';
import { readOnlyUri } from '../integrity/uri.ts';
import { checkHead, emptyHead, openLogHead, readLogHead, type LogHead } from '../log-head.ts';
import { createReaders, type ChargeRead, type Readers } from './readers.ts';
import { systemStatement, type Params, type Statement, bind } from '../statement.ts';
import { StoreError, type CommittedBatch, type Reads, type Store, type Scope } from '../store.ts';
import { createEncoder, type TakeOrder } from '../writer/wire.ts';
import { GroupCommit, type Writes } from '../writer/group-commit.ts';
import { writerThread, type Copying, type OpenWriter } from '../writer/thread.ts';
import { isEngineError, concernsStore, faultOf, showsDamage } from './engine-errors.ts';

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

// Replaces group commit in a store that is opened read-only.

function createNoWrites(fault: StoreError): Writes {
  return {
    fault,
    counts: { batches: 0, groups: 0 },
    commit: () => Promise.reject(fault),
    suspend: () => undefined,
    aside: () => undefined,
    between: async () => null,
    commitsProcessed: async () => undefined,
    async close(released) {
      released();
      return false;
    },
  };
}

// Maintains the read snapshot of the event loop: the state after the last group that the loop has processed.
// The writer thread commits concurrently; without the snapshot, a read between a commit and its message would
// be ahead of every cache, and consecutive reads could return two states. docs/decisions/0018.

interface Snapshot {
  /**
   * Moves the read snapshot to the latest commit. Must not run while a commit is in flight.
   * @param batches successful batches of the group that was committed since the last move; undefined if none was
   */
  moveOn(batches?: readonly CommittedBatch[]): void;
  /** See `Store`. A position of the log that the batches do not explain shows the writes of others. */
  onIncluded: Store['onIncluded'];
  /** Ends the snapshot. A checkpoint is complete only if no snapshot is older than the end of the log. */
  release(): void;
}

/** @param db read-only connection */
function holdSnapshot(db: Database.Database): Snapshot {
  const begin = db.prepare('BEGIN');
  const end = db.prepare('COMMIT');
  // The snapshot of a transaction is that of its first read.
  const look = db.prepare('SELECT position FROM log_head WHERE id = 1').raw(true);
  const listeners: Parameters<Store['onIncluded']>[0][] = [];
  let position = Number.NaN;

  const release = (): void => {
    if (db.inTransaction) end.run();
  };
  const moveOn: Snapshot['moveOn'] = (batches) => {
    const expected = position + (batches ? 1 : 0);
    position = Number.NaN;
    try {
      release();
      begin.run();
      position = Number((look.all([])[0] as [number] | undefined)?.[0]);
    } catch (error) {
      // The next read reports the error.
      if (!isEngineError(error)) throw error;
    }
    for (const listener of listeners) listener(position === expected ? (batches ?? []) : null);
  };
  moveOn();
  return { moveOn, release, onIncluded: (listener) => void listeners.push(listener) };
}

// Reads of the embedded engine: on the event loop if the statement is known to be cheap there, else in the reader pool.

/** Runs synchronously on the event loop. */
function readRows<R>(
  compile: Compile,
  statement: Statement<R>,
  params: Params,
  workspaceId: string | null,
): R[] {
  const { prepared, toRow } = compile(statement);
  return prepared.all(bind(statement, params, workspaceId)).map(toRow) as R[];
}

interface ReadsOptions {
  readonly compile: Compile;
  readonly readers: Readers;
  readonly guard: DamageGuard;
  readonly writes: Writes;
  /** Called when SQLite finds content that it did not write. */
  onDamage(): void;
}

function createReads({ compile, readers, guard, writes, onDamage }: ReadsOptions): Reads {
  /** Maps engine errors to StoreError, so that callers can tell store faults from invalid requests. */
  const mapped = (error: unknown): unknown => {
    if (showsDamage(error instanceof StoreError ? error.cause : error)) onDamage();
    return concernsStore(error) ? faultOf(error) : error;
  };
  /** Resolves without the turn of an async function, because a get waits for nothing else. */
  const attempt = <T>(statement: Statement<unknown>, read: () => T): Promise<T> => {
    try {
      guard.check(statement.text);
      return Promise.resolve(read());
    } catch (error) {
      return Promise.reject(mapped(error) as Error);
    }
  };
  return {
    async read<R>(scope: Scope, statement: Statement<R>, params: Params = {}) {
      try {
        guard.check(statement.text);
        const { pace, toRow } = compile(statement);
        const select = (): R[] => readRows(compile, statement, params, scope.workspaceId);
        if (!pace) return select();
        if (!pace.isSlow(scope.workspaceId)) return pace.timed(scope.workspaceId, select);
        const values = bind(statement, params, scope.workspaceId);
        const rows = await readers.read(scope, statement.text, values);
        // The rows may include a commit that the caches and the loop's connection do not reflect yet.
        await writes.commitsProcessed();
        return rows.map(toRow) as R[];
      } catch (error) {
        throw mapped(error);
      }
    },
    readOne: <R>(scope: Scope, statement: Statement<R>, params: Params = {}) =>
      attempt(statement, () => {
        const { prepared, toRow } = compile(statement);
        const values = prepared.get(bind(statement, params, scope.workspaceId));
        return values === undefined ? undefined : (toRow(values) as R);
      }),
    readSystem: (statement, params = {}) =>
      attempt(statement, () => readRows(compile, statement, params, null)),
  };
}

/** Opens a migrated database. @throws Error if the log lost acknowledged writes */
export function openFileEngine(options: FileEngineOptions): FileEngine {
  const { path, logHead, onlyToRead = null } = options;
  const uri = onlyToRead?.uri ?? readOnlyUri(path);
  const db = new Database(uri);
  for (const pragma of pragmas) db.prepare(`PRAGMA ${pragma}`).all();
  const planner = openPlanner(uri);
  const compile = createCompiler(db, planner);
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
    ...createReads({ compile, readers, guard, writes, onDamage: () => verify(true) }),
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
    onIncluded: snapshot.onIncluded,
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
  for (const { name } of virtual) {
    try {
      planner.prepare(`SELECT rowid FROM ${name} LIMIT 0`).all();
    } catch (error) {
      // The statements of a damaged table report the damage; others work.
      if (!showsDamage(error)) throw error;
    }
  }
  return planner;
}
