// Page checksums of the database file in `tatami.db-sums`, and the check of a database without valid ones.
// A page has 4 bytes of CRC-32, and 4 bytes that validate the entry itself. SQLite has no checksums, and
// returns the content of damaged pages. docs/decisions/0023.
import { isUtf8 } from 'node:buffer';
import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import { syncPath, writeWholeFile } from '../files/installation.ts';
import { uriToLook } from './uri.ts';

/** Page size of a new database. */
export const newPageBytes = 8192;
const entryBytes = 8;
/** Unit of writes. */
const blockBytes = 4096;

const sumsOf = (database: string): string => `${database}-sums`;
export const hasSums = (database: string): boolean => existsSync(sumsOf(database));

/**
 * `unset`: the page was never written (SQLite skips pages that are freed before the write), or is in the log. `lost`: the entry is damaged
 * or missing.
 */
type PageVerdict = 'right' | 'wrong' | 'unset' | 'lost';

export interface PageSums {
  /** Page size; null if the first entry is damaged. */
  readonly pageBytes: number | null;
  verdictOf(page: number, content: Uint8Array): PageVerdict;
}

/** Checksums that the writer updates. */
export interface WritablePageSums extends PageSums {
  /** @param sum CRC-32 of the content */
  set(page: number, sum: number): void;
  unset(page: number): void;
  /** Sets the size of the database file in pages; entries beyond it become unset. */
  resize(pages: number): void;
  /** Writes changed entries; durable on return. Entries that could not be written are retried at the next flush. */
  flush(): void;
  close(): void;
}

/** @throws Error with the system's `code` if there is no such file */
export function readSums(database: string): PageSums {
  const entries = readFileSync(sumsOf(database));
  return { pageBytes: pageBytesOf(entries), verdictOf: (page, content) => verdict(entries, page, content) };
}

export function openPageSums(database: string): WritablePageSums {
  const path = sumsOf(database);
  let entries = readFileSync(path);
  const fd = openSync(path, 'r+');
  const changed = new Set<number>();
  const put = (page: number, sum: number, check: number): void => {
    if (page * entryBytes >= entries.length) resize(page);
    const at = page * entryBytes;
    if (entries.readUInt32LE(at) === sum && entries.readUInt32LE(at + 4) === check) return;
    entryOf(sum, check).copy(entries, at);
    changed.add(Math.floor(at / blockBytes));
  };
  const resize = (pages: number): void => {
    const had = Math.floor(entries.length / entryBytes);
    if (had <= pages) {
      const enlarged = Buffer.alloc((pages + 1) * entryBytes);
      entries.copy(enlarged, 0, 0, had * entryBytes);
      entries = enlarged;
    }
    for (let page = Math.min(had, pages + 1); page < Math.max(had, pages + 1); page++)
      put(page, 0, unsetCheck(page));
  };
  return {
    pageBytes: pageBytesOf(entries),
    verdictOf: (page, content) => verdict(entries, page, content),
    set: (page, sum) => put(page, sum, checkOf(page, sum)),
    unset: (page) => put(page, 0, unsetCheck(page)),
    resize,
    flush() {
      if (changed.size === 0) return;
      for (const block of [...changed].sort((a, b) => a - b)) {
        const at = block * blockBytes;
        writeSync(fd, entries, at, Math.min(blockBytes, entries.length - at), at);
      }
      fdatasyncSync(fd);
      changed.clear();
    },
    close: () => closeSync(fd),
  };
}

/** Builds the content of a new checksum file. `fill` adds the pages from page 1 on; null leaves an entry unset. */
export function makeSums(
  pageBytes: number,
  fill: (add: (content: Uint8Array | null) => void) => void = () => undefined,
): Buffer {
  const entries = [entryOf(pageBytes, checkOf(0, pageBytes))];
  fill((content) => {
    const page = entries.length;
    const sum = content === null ? 0 : Bun.hash.crc32(content);
    entries.push(entryOf(sum, content === null ? unsetCheck(page) : checkOf(page, sum)));
  });
  return Buffer.concat(entries);
}

export function writeSums(database: string, sums: Buffer): void {
  writeWholeFile(sumsOf(database), sums);
}

/** Removes the checksums durably. The next start checks the whole database. */
export function dropSums(database: string): void {
  rmSync(sumsOf(database), { force: true });
  syncPath(dirname(database));
}

function verdict(entries: Buffer, page: number, content: Uint8Array): PageVerdict {
  const at = page * entryBytes;
  if (at + entryBytes > entries.length) return 'lost';
  const sum = entries.readUInt32LE(at);
  const check = entries.readUInt32LE(at + 4);
  if (sum === 0 && check === unsetCheck(page)) return 'unset';
  if (check !== checkOf(page, sum)) return 'lost';
  return Bun.hash.crc32(content) === sum ? 'right' : 'wrong';
}

/** The first entry, for the nonexistent page 0, stores the page size. */
function pageBytesOf(entries: Buffer): number | null {
  if (entries.length < entryBytes) return null;
  const pageBytes = entries.readUInt32LE(0);
  return entries.readUInt32LE(4) === checkOf(0, pageBytes) ? pageBytes : null;
}

const checked = Buffer.alloc(8);

function checkOf(page: number, sum: number): number {
  checked.writeUInt32LE(page, 0);
  checked.writeUInt32LE(sum, 4);
  return Bun.hash.crc32(checked);
}

const unsetCheck = (page: number): number => ~checkOf(page, 0) >>> 0;

function entryOf(sum: number, check: number): Buffer {
  const entry = Buffer.alloc(entryBytes);
  entry.writeUInt32LE(sum, 0);
  entry.writeUInt32LE(check, 4);
  return entry;
}

const findingsMax = 20;

/**
 * Checks the content of a database without valid page checksums: SQLite's integrity check, which does not
 * detect damaged texts, and the encoding of every text, because libsql aborts the process on invalid UTF-8.
 * Changes nothing. No process may write the database during the check.
 * @returns findings; empty if the database is intact
 */
export function checkWhole(database: string): string[] {
  const db = new Database(uriToLook(database, false));
  try {
    return [...integrityOf(db), ...textsOf(db)].slice(0, findingsMax);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    db.close();
  }
}

type Connection = InstanceType<typeof Database>;

/** Reads columns as bytes, because a text may be damaged. */
function* rowsOf(db: Connection, sql: string): Generator<(Buffer | null)[]> {
  yield* db.prepare(sql).raw(true).iterate([]) as Iterable<(Buffer | null)[]>;
}

const textOf = (bytes: Buffer | null | undefined): string => bytes?.toString() ?? '';

function* integrityOf(db: Connection): Generator<string> {
  const sql = `SELECT CAST(integrity_check AS BLOB) FROM pragma_integrity_check(${findingsMax})`;
  for (const [said] of rowsOf(db, sql)) if (textOf(said) !== 'ok') yield textOf(said);
}

function* textsOf(db: Connection): Generator<string> {
  const tables = [
    ...rowsOf(db, "SELECT CAST(name AS BLOB) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"),
  ];
  for (const [table] of tables) yield* textsOfTable(db, textOf(table));
}

function* textsOfTable(db: Connection, table: string): Generator<string> {
  const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  const columnRows = rowsOf(
    db,
    `SELECT CAST(name AS BLOB) FROM pragma_table_info('${table.replaceAll("'", "''")}')`,
  );
  const columns = [...columnRows].map(([name]) => textOf(name));
  const asBytes = columns.map(
    (name) => `CASE typeof(${quoted(name)}) WHEN 'text' THEN CAST(${quoted(name)} AS BLOB) END`,
  );
  let row = 0;
  for (const values of rowsOf(db, `SELECT ${asBytes.join(', ')} FROM ${quoted(table)}`)) {
    row++;
    const bad = values.findIndex((value) => value !== null && !isUtf8(value));
    if (bad >= 0) yield `row ${row} of ${table} has a text in ${columns[bad]} that is not valid UTF-8`;
  }
}
