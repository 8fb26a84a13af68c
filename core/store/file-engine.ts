// The embedded engine: libsql over one file. The writer thread commits groups of batches to it at synchronous=FULL; the event loop
// reads with a connection of its own, which holds still between groups, and long reads have readers.
import Database from 'libsql';
import { dirname, join } from 'node:path';
import { createArchive } from './archive.ts';
import { createCompiler } from './compile.ts';
import { createReads, readRows } from './engine-reads.ts';
import { checkHead, openLogHead, type LogHead } from './log-head.ts';
import { createReaders, type ChargeRead } from './readers.ts';
import { holdSnapshot } from './snapshot.ts';
import { registeredStatements, systemStatement } from './statement.ts';
import { StoreError, type Store } from './store.ts';
import { createEncoder } from './writer/encode.ts';
import { GroupCommit } from './writer/group-commit.ts';
import { writerThread, type OpenWriter } from './writer/thread.ts';

/** Of the loop's connection. */
const pragmas = ['query_only = ON', 'busy_timeout = 0', 'cache_size = -65536', 'temp_store = MEMORY'];

const readHead = systemStatement<{ position: number; hash: string }>(
  'log_head.read',
  'the log head covers the whole installation',
  'SELECT position, hash FROM log_head WHERE id = 1',
);

/** Opens a migrated database. @throws Error when a tenant statement breaks the guard, or the log lost acknowledged writes. */
export function openFileEngine(options: {
  path: string;
  /** The file of the log head. */
  logHead: string;
  /** Of one long read: processor time in milliseconds; 0 is unlimited. */
  budgetMs: number;
  charge: ChargeRead;
  openWriter?: OpenWriter;
}): Store {
  const { path, logHead, openWriter = writerThread().open } = options;
  const db = new Database(path);
  for (const pragma of pragmas) db.prepare(`PRAGMA ${pragma}`).all();
  const planner = new Database(path);
  const compile = createCompiler(db, planner);
  for (const statement of registeredStatements()) compile(statement);
  const head = startLogHead(logHead, readRows(compile, readHead, {}, null)[0]);

  const readers = createReaders(options);
  const writer = openWriter({ path, logHead, head });
  const snapshot = holdSnapshot(db);
  const writes = new GroupCommit({
    writer,
    encoder: createEncoder(compile),
    onCommitted: snapshot.moveOn,
  });
  let closed: Promise<void> | null = null;

  const finish = async (): Promise<void> => {
    await readers.close();
    await writes.drain();
    snapshot.release();
    planner.close();
    db.close();
    await writer.close(!writes.isBroken);
  };

  return {
    archive: createArchive(join(dirname(path), 'archive')),
    ...createReads(compile, readers, () => writes.heard()),
    commit(ops, { commitDelayMs = 0 } = {}) {
      if (closed) return Promise.reject(new StoreError('broken', 'The store is closed.'));
      return writes.commit(ops, commitDelayMs);
    },
    reclaim: async (pages) => (closed ? null : writes.reclaim(pages)),
    status() {
      const { fault } = writes;
      return { writable: !fault && !closed, reason: fault?.message ?? null };
    },
    close: () => (closed ??= finish()),
  };
}

/** Compares the head outside the database with the one inside, and makes them equal. @returns where the log goes on */
function startLogHead(path: string, inside: LogHead | undefined): LogHead {
  const file = openLogHead(path);
  try {
    const head = checkHead(inside, file.read());
    file.write(head);
    return head;
  } finally {
    file.close();
  }
}
