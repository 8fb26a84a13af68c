// The embedded engine: libsql over one file. The writer thread commits groups of batches to it at synchronous=FULL; the event loop
// reads with a connection of its own, which holds still between groups, and long reads have readers.
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

/** Of the loop's connection. */
const pragmas = ['query_only = ON', 'busy_timeout = 0', 'cache_size = -65536', 'temp_store = MEMORY'];

const readHead = systemStatement<{ position: number; hash: string }>(
  'log_head.read',
  'the log head covers the whole installation',
  'SELECT position, hash FROM log_head WHERE id = 1',
);

/** Why and how a store is opened that takes no writes. */
export interface OnlyToRead {
  /** What every write is refused with. */
  readonly fault: StoreError;
  /** How the database is named to SQLite. */
  readonly uri: string;
  readonly damage: Damage | null;
}

export interface FileEngineOptions {
  readonly path: string;
  /** The file of the log head. */
  readonly logHead: string;
  /** Of one long read: processor time in milliseconds; 0 is unlimited. */
  readonly budgetMs: number;
  readonly charge: ChargeRead;
  /** Where the continuous copy is made. */
  readonly copying?: Copying | null;
  readonly openWriter?: OpenWriter;
  readonly onlyToRead?: OnlyToRead | null;
  /** Called once, when damage is found while the store is open. It takes no writes any more. */
  readonly onDamage?: (damage: Damage) => void;
  /** Called when a file of old events cannot be read, and with null when all of them can be again. */
  readonly onArchiveDamage?: (message: string | null) => void;
}

export interface FileEngine extends Store {
  /** Puts aside for the continuous copy what was committed. Does nothing in a closed store. */
  take(order: TakeOrder): Promise<void>;
  /** Refuses every write with this, until it is called with null. */
  suspend(fault: StoreError | null): void;
  /** As `close`. @returns whether everything lies in the one file */
  closeWhole(): Promise<boolean>;
}

/** How often a piece of the file is compared with its checksums. */
const verifyEveryMs = 1_000;

/** Opens a migrated database. @throws Error when a tenant statement breaks the guard, or the log lost acknowledged writes. */
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
    ...createReads({ compile, readers, guard, heard: () => writes.heard(), onDamage: () => verify(true) }),
    commit(ops, { commitDelayMs = 0 } = {}) {
      if (closed) return Promise.reject(new StoreError('broken', 'The store is closed.'));
      return writes.commit(ops, commitDelayMs);
    },
    reclaim: async (pages) =>
      writes.between(async (writer) => {
        const space = await writer.reclaim(pages);
        snapshot.moveOn();
        // The file becomes shorter when the log is folded in.
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

/** The side that writes, and the question whether what it wrote is still there. */
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
 * Compares the head outside the database with the one inside, and makes them equal where it may be written.
 * @returns where the log goes on
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
 * A connection that is only for plans. A virtual table reads tables of its own when a connection first meets it: that is done before any
 * EXPLAIN, whose statements stay in progress there, and with them what else was read.
 */
function openPlanner(uri: string): Database.Database {
  const planner = new Database(uri);
  const virtual = planner
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'")
    .all() as { name: string }[];
  for (const { name } of virtual) planner.prepare(`SELECT rowid FROM ${name} LIMIT 0`).all();
  return planner;
}
