// Finds words in everything that a server stores: rows of all tables, also compressed and encrypted ones, the search index, and files.
import Database from 'libsql';
import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { tables } from '../../core/features/tables.ts';
import type { Table } from '../../core/kernel/table/define.ts';
import {
  sealedAtRest,
  sealedFor,
  type SealedColumn,
  type Sealing,
} from '../../core/platform/lib/secrets/sealing.ts';
import type { TestApp } from '../app.ts';
import { filesUnder } from '../faults/searched.ts';

type Row = Readonly<Record<string, unknown>>;

/** Files of the database contain the event log, so its rows are read instead; the WAL also has earlier versions of rows. */
const databaseFiles = /^tatami\.db(-wal|-shm)?$/;

function withDatabase<T>({ dataDir }: TestApp, read: (db: Database.Database) => T): T {
  const db = new Database(`${dataDir}/tatami.db`);
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** Returns the places with one of the words: `table.column`, or the folder of a file. Event log and its archive are left out. */
export function placesOf(app: TestApp, words: readonly string[]): string[] {
  const hasWord = (text: string): boolean => words.some((word) => text.includes(word));
  const { sealing } = app.services;
  const inRows = withDatabase(app, (db) =>
    tables
      .filter(({ name }) => name !== 'events')
      .flatMap((table) =>
        rowsOf(db, table).flatMap((row) =>
          Object.keys(row)
            .filter((column) => textsOf(sealing, table.name, row, column).some(hasWord))
            .map((column) => `${table.name}.${column}`),
        ),
      ),
  );
  const inFiles = filesUnder(app.dataDir)
    .map((path) => ({ path: relative(app.dataDir, path), file: path }))
    .filter(({ path }) => !databaseFiles.test(basename(path)) && !path.startsWith('archive/'))
    .filter(({ file }) => hasWord(unpacked(readFileSync(file))))
    .map(({ path }) => path.split('/')[0]!);
  return [...new Set([...inRows, ...inFiles])].sort();
}

/** The index has no readable rows, so its words are returned as rows. It forgets a text in its segments when it merges them. */
function rowsOf(db: Database.Database, { name }: Table): Row[] {
  if (name !== 'search_index') return db.prepare(`SELECT * FROM ${name}`).all() as Row[];
  db.exec("CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'search_index', 'row')");
  return db.prepare('SELECT term FROM temp.words').all() as Row[];
}

/** Returns the text of a value, and the texts that are encrypted in it. */
function textsOf(sealing: Sealing, table: string, row: Row, column: string): string[] {
  const value = row[column];
  if (typeof value === 'number' || value === null) return [];
  const text = typeof value === 'string' ? value : unpacked(Buffer.from(value as ArrayBuffer));
  const columns: readonly (SealedColumn & (typeof sealedAtRest)[number])[] = sealedAtRest;
  const sealed = columns.find((one) => one.table === table && one.column === column);
  if (!sealed || ('sealed' in row && row.sealed !== 1)) return [text];
  const purpose = sealedFor(
    sealed.purpose,
    sealed.ofInstallation ? '' : String(row.workspace_id),
    String(row.id),
  );
  return [text, ...sealedIn(sealed, value).map((bytes) => sealing.open(bytes, purpose))];
}

function sealedIn({ form }: SealedColumn, value: unknown): Uint8Array[] {
  if (form === 'bytes') return [new Uint8Array(value as ArrayBuffer)];
  if (form === 'base64') return [bytesOf(JSON.parse(value as string) as string)];
  if (!/^[[{]/.test(value as string)) return [];
  const members = [JSON.parse(value as string) as unknown].flat() as { readonly sealed: string | null }[];
  return members.flatMap((member) => (member.sealed === null ? [] : [bytesOf(member.sealed)]));
}

const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, 'base64'));

function unpacked(bytes: Buffer): string {
  const isZstd = bytes.length > 4 && bytes.readUInt32LE(0) === 0xfd2fb528;
  return (isZstd ? Buffer.from(Bun.zstdDecompressSync(bytes)) : bytes).toString('utf8');
}

/** Returns the tables with rows that belong to an issue, as their declarations state. */
export function ownedTables(app: TestApp, issueId: string): string[] {
  return withDatabase(app, (db) =>
    ownedByIssues
      .filter(({ name, owners }) => {
        const columns = owners.filter(({ table }) => table === 'issues').map(({ by }) => `${by} = ?1`);
        return db.prepare(`SELECT 1 FROM ${name} WHERE ${columns.join(' OR ')}`).get([issueId]) !== undefined;
      })
      .map(({ name }) => name)
      .sort(),
  );
}

export const ownedByIssues: readonly Table[] = tables.filter(({ owners }) =>
  owners.some(({ table }) => table === 'issues'),
);
