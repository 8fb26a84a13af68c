// One connection that only reads, on a thread of libsql's, and the pool of them.
import Database from 'libsql/promise';
import type { Value } from './statement.ts';
import { StoreError } from './store.ts';

/** With so many statements a reader is given up for a new one. */
const preparedMax = 100;

interface PreparedRead {
  raw(on: boolean): PreparedRead;
  all(values: Value[]): Promise<Value[][]>;
}

export interface Reader {
  readonly db: Database;
  /**
   * All that was ever prepared here, by its text. None is forgotten while the reader is in use: a statement that is collected
   * waits for its connection, and the event loop with it, for as long as another one runs there.
   */
  readonly prepared: Map<string, PreparedRead>;
}

export async function prepareRead(reader: Reader, text: string): Promise<PreparedRead> {
  const known = reader.prepared.get(text);
  if (known) return known;
  // Rows are fetched on the loop, one after the other, so that all of them must be there when the first one is.
  const whole = `WITH page AS MATERIALIZED (${text}) SELECT * FROM page`;
  const prepared = ((await reader.db.prepare(whole)) as PreparedRead).raw(true);
  reader.prepared.set(text, prepared);
  return prepared;
}

interface ReaderPool {
  take(): Promise<Reader>;
  give(reader: Reader): void;
  /** What runs now. */
  interrupt(): void;
  /** To be called once all were given back. */
  close(): void;
}

/** It holds as many as were ever taken at once. @param uri how the database is named to SQLite, only to be read */
export function createReaderPool(uri: string): ReaderPool {
  const idle: Reader[] = [];
  const busy = new Set<Reader>();
  return {
    async take() {
      const reader = idle.pop() ?? (await openReader(uri));
      busy.add(reader);
      return reader;
    },
    give(reader) {
      busy.delete(reader);
      if (reader.prepared.size < preparedMax) idle.push(reader);
      else reader.db.close();
    },
    interrupt() {
      for (const reader of busy) reader.db.interrupt();
    },
    close() {
      for (const reader of idle) reader.db.close();
    },
  };
}

async function openReader(uri: string): Promise<Reader> {
  const reader: Reader = { db: open(uri), prepared: new Map() };
  for (const pragma of [
    // A connection that closes somewhere holds the file for a moment. This waits on a thread of its own, not on the loop.
    'PRAGMA busy_timeout = 2000',
    'PRAGMA query_only = ON',
    'PRAGMA cache_size = -8192',
    'PRAGMA temp_store = MEMORY',
  ]) {
    const prepared = (await reader.db.prepare(pragma)) as PreparedRead;
    reader.prepared.set(pragma, prepared);
    await prepared.all([]);
  }
  return reader;
}

/** @throws StoreError where the file is not at its place any more; libsql's own error says no code */
function open(uri: string): Database {
  try {
    return new Database(uri, {});
  } catch (error) {
    throw new StoreError('busy', 'The database cannot be opened.', error);
  }
}
