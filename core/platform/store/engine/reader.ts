// Read-only connections on libsql's threads, and their pool.
import Database from 'libsql/promise';
import type { Value } from '../statement.ts';
import { StoreError } from '../store.ts';

/** Number of prepared statements at which a reader is replaced by a new one. */
const preparedMax = 100;

interface PreparedRead {
  raw(on: boolean): PreparedRead;
  all(values: Value[]): Promise<Value[][]>;
}

export interface Reader {
  readonly db: Database;
  /**
   * Prepared statements by text. None is dropped while the reader is in use: the finalizer of a statement waits for its connection, and
   * would block the event loop while another statement runs there.
   */
  readonly prepared: Map<string, PreparedRead>;
}

export async function prepareRead(reader: Reader, text: string): Promise<PreparedRead> {
  const known = reader.prepared.get(text);
  if (known) return known;
  // libsql fetches rows on the event loop one by one. MATERIALIZED computes all rows, off the loop, before the first one is returned.
  const whole = `WITH page AS MATERIALIZED (${text}) SELECT * FROM page`;
  const prepared = ((await reader.db.prepare(whole)) as PreparedRead).raw(true);
  reader.prepared.set(text, prepared);
  return prepared;
}

interface ReaderPool {
  take(): Promise<Reader>;
  give(reader: Reader): void;
  /** Interrupts the reads in progress. */
  interrupt(): void;
  /** Must be called after all readers were returned. */
  close(): void;
}

/** Creates a pool that grows to the peak number of concurrent readers. @param uri read-only SQLite URI of the database */
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
    // A closing connection holds the file lock briefly. This timeout waits on a libsql thread, not on the event loop.
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

/** @throws StoreError if the file is missing; libsql's own error has no code */
function open(uri: string): Database {
  try {
    return new Database(uri, {});
  } catch (error) {
    throw new StoreError(
      'busy',
      'The database cannot be opened. Check that its file exists and is readable.',
      error,
    );
  }
}
