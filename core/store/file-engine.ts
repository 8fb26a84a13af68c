// The embedded engine: libsql's synchronous API over one file, one connection that writes, group commit at synchronous=FULL;
// reads run between groups.
import Database from 'libsql';
import { createCompiler } from './compile.ts';
import { createReads, readRows } from './engine-reads.ts';
import { isEngineError } from './engine-errors.ts';
import { GroupCommit } from './group-commit.ts';
import { checkHead, type LogHeadFile } from './log-head.ts';
import { createReaders, type ChargeRead } from './readers.ts';
import { registeredStatements, systemStatement } from './statement.ts';
import { StoreError, type Store } from './store.ts';
import { createTransactions } from './transaction.ts';

const pragmas = [
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  'busy_timeout = 0',
  'cache_size = -65536',
  'temp_store = MEMORY',
  'wal_autocheckpoint = 4000',
];

const readHead = systemStatement<{ position: number; hash: string }>(
  'log_head.read',
  'the log head covers the whole installation',
  'SELECT position, hash FROM log_head WHERE id = 1',
);

/** Opens a migrated database. @throws Error when a tenant statement breaks the guard, or the log lost acknowledged writes. */
export function openFileEngine(options: {
  path: string;
  logHead: LogHeadFile;
  /** Of one long read: processor time in milliseconds; 0 is unlimited. */
  budgetMs: number;
  charge: ChargeRead;
}): Store {
  const { path, logHead } = options;
  const db = new Database(path);
  for (const pragma of pragmas) db.prepare(`PRAGMA ${pragma}`).all();
  const planner = new Database(path);
  const compile = createCompiler(db, planner);
  for (const statement of registeredStatements()) compile(statement);
  const head = checkHead(readRows(compile, readHead, {}, null)[0], logHead.read());
  logHead.write(head);

  const readers = createReaders(options);
  const listeners: ((workspaceIds: ReadonlySet<string>) => void)[] = [];
  const writes = new GroupCommit(createTransactions({ db, compile, logHead, head }), (workspaceIds) => {
    for (const listener of listeners) listener(workspaceIds);
  });
  let closed: Promise<void> | null = null;

  const finish = async (): Promise<void> => {
    await readers.close();
    await writes.drain();
    if (!writes.isBroken) foldLogIn(db);
    planner.close();
    db.close();
    logHead.close();
  };

  return {
    ...createReads(compile, readers),
    commit(ops, { commitDelayMs = 0 } = {}) {
      if (closed) return Promise.reject(new StoreError('broken', 'The store is closed.'));
      return writes.commit(ops, commitDelayMs);
    },
    onEvents: (listener) => void listeners.push(listener),
    status() {
      const { fault } = writes;
      return { writable: !fault && !closed, reason: fault?.message ?? null };
    },
    close: () => (closed ??= finish()),
  };
}

/** libsql keeps a connection until its statements are collected, so that closing would not fold the log in. */
function foldLogIn(db: Database.Database): void {
  try {
    db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  } catch (error) {
    // The next start reads the log instead.
    if (!isEngineError(error)) throw error;
  }
}
