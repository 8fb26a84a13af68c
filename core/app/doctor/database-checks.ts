// Checks of the database file: structure, page checksums, schema and texts.
import {
  type Check,
  damage,
  error,
  type Finding,
  note,
  type ReadRows,
  type RowCheck,
  type RowSubject,
  some,
  warning,
} from '../../kernel/checks.ts';
import { unpack } from '../../kernel/events/log/packing.ts';
import { schemaAt, schemaEntries, type SchemaEntry } from '../../platform/store/engine/looking.ts';
import { damageOf, describeDamage } from '../../platform/store/integrity/damage.ts';
import { openPageFile } from '../../platform/store/integrity/page-file.ts';
import { verifyPages } from '../../platform/store/integrity/verify.ts';
import { migrations } from '../../platform/store/migrations/index.ts';
import type { Subject } from './subject.ts';

/** Maximum number of problems that SQLite reports. */
const reportedMax = 20;

export const structure: RowCheck = {
  name: 'structure',
  holds: 'the database, its indexes and its references are consistent',
  readsDatabase: true,
  look(subject) {
    const said = subject
      .rows<{ integrity_check: string }>(`PRAGMA integrity_check(${reportedMax})`)
      .map((row) => row.integrity_check)
      .filter((text) => text !== 'ok');
    if (said.length > 0) {
      const isIndex = said.every((text) =>
        /missing from index|wrong # of entries in index|non-unique entry/.test(text),
      );
      return [
        isIndex
          ? damage(`The database is damaged: ${some(said)}.`, 'indexes')
          : damage(`The database is damaged: ${some(said)}. Restore a backup.`),
      ];
    }
    return brokenReferences(subject).map((sentence) => error(`${sentence}. Restore a backup.`));
  },
};

/** Returns a sentence without a full stop for each pair of tables with broken references. */
export function brokenReferences({ rows }: { readonly rows: ReadRows }): string[] {
  const broken = new Map<string, number>();
  for (const { table, parent } of rows<{ table: string; parent: string }>('PRAGMA foreign_key_check'))
    broken.set(`${table} → ${parent}`, (broken.get(`${table} → ${parent}`) ?? 0) + 1);
  return [...broken].map(([where, count]) => `${count} rows refer to a missing row: ${where}`);
}

export const pages: Check<Subject> = {
  name: 'pages',
  holds: 'every page of the database matches its checksum',
  look({ path, servedBy }) {
    // A server writes pages and their checksums one after the other, so a comparison would report false
    // errors.
    if (servedBy !== null)
      return [
        note(
          `The running server (process ${servedBy}) checks the pages itself and reports damage at /readyz.`,
        ),
      ];
    const { damaged, isUnsure } = verifyPages(path.database);
    if (damaged.length > 0)
      return [
        damage(
          `${describePages(path.database, damaged)} A server can still read the undamaged pages. Restore a backup.`,
        ),
      ];
    return isUnsure
      ? [note('Some pages have no checksum. The next start checks the whole database and adds them.')]
      : [];
  },
};

export function describePages(database: string, damaged: readonly number[]): string {
  const file = openPageFile(database);
  try {
    return describeDamage(database, damageOf(file, damaged));
  } finally {
    file.close();
  }
}

export const schema: Check<Subject> = {
  name: 'schema',
  holds: 'all tables and indexes match the schema of this version',
  readsDatabase: true,
  look({ rows }) {
    const [version] = rows<{ user_version: number }>('PRAGMA user_version');
    const at = version?.user_version ?? 0;
    if (at > migrations.length)
      return [
        damage(
          `The database has schema ${at}, but this version of Tatami supports up to ${migrations.length}. Use the newer version.`,
        ),
      ];
    if (at < migrations.length)
      return [
        {
          ...warning(
            `The database has schema ${at}. The next start of the server upgrades it to ${migrations.length}; run the doctor again after that.`,
          ),
          blocks: 'of an earlier schema',
        },
      ];
    return compare(schemaAt(at), rows<SchemaEntry>(schemaEntries));
  },
};

function compare(wanted: readonly SchemaEntry[], actual: readonly SchemaEntry[]): Finding[] {
  const byName = new Map(actual.map((entry) => [entry.name, entry]));
  const missing = wanted.filter(({ name }) => !byName.has(name));
  const altered = wanted.filter(
    ({ name, sql }) => byName.has(name) && plain(byName.get(name)!.sql) !== plain(sql),
  );
  const names = new Set(wanted.map(({ name }) => name));
  const foreign = actual.filter(({ name }) => !names.has(name));
  const onlyIndexes = missing.every(({ type }) => type === 'index');
  const drops = foreign.map(
    ({ name, type }) => `DROP ${type.toUpperCase()} "${name.replaceAll('"', '""')}";`,
  );
  return [
    ...(missing.length > 0
      ? [
          onlyIndexes
            ? error(`Missing from the database: ${listEntries(missing)}.`, 'indexes')
            : damage(`Missing from the database: ${listEntries(missing)}. Restore a backup.`),
        ]
      : []),
    ...(altered.length > 0
      ? [
          damage(
            `Different from the schema of this version: ${listEntries(altered)}. Another program changed the database. Restore a backup.`,
          ),
        ]
      : []),
    ...(foreign.length > 0
      ? [
          error(
            `Not part of the schema: ${listEntries(foreign)}. Another program changed the database, and an upgrade may fail because of that. Stop the server, run \`${drops.join(' ')}\` in sqlite3, then run \`tatami doctor fix accept --altered\`.`,
          ),
        ]
      : []),
  ];
}

const listEntries = (list: readonly SchemaEntry[]): string =>
  some(
    list.map(({ name, type }) => `${type} ${name}`),
    10,
  );

const plain = (sql: string): string =>
  sql
    .replaceAll(/--[^\n]*/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

const decoder = new TextDecoder('utf-8', { fatal: true });

export const texts: RowCheck = {
  name: 'texts',
  holds: 'all text is valid UTF-8, and all JSON is valid',
  readsDatabase: true,
  look(subject) {
    const tables = subject.rows<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    );
    return [...tables.flatMap(({ name }) => textsOf(subject, name)), ...packedEvents(subject)];
  },
};

/**
 * Returns true if the data of an event is packed or stored elsewhere; see core/kernel/events/log/packing.ts.
 */
const isElsewhere = (text: string): boolean => /^([=@]\d+)?$/.test(text);

function packedEvents({ database }: RowSubject): Finding[] {
  const all = database()
    .prepare('SELECT sequence, packed FROM events WHERE packed IS NOT NULL')
    .iterate() as Iterable<{ sequence: number; packed: Uint8Array }>;
  const bad: string[] = [];
  for (const { sequence, packed } of all) {
    try {
      JSON.parse(unpack({ cause_json: '', data_json: '', packed }).data);
    } catch {
      bad.push(String(sequence));
    }
  }
  return bad.length > 0
    ? [damage(`The data of these events is damaged: ${some(bad)}. Restore a backup.`)]
    : [];
}

/** Reads texts as blobs, because libsql aborts the process on text that is not UTF-8. */
function textsOf({ rows, database }: RowSubject, table: string): Finding[] {
  const columns = rows<{ name: string; type: string }>(`PRAGMA table_info(${quoted(table)})`)
    .filter(({ type }) => type === 'TEXT')
    .map(({ name }) => name);
  if (columns.length === 0) return [];
  const select = columns.map((column) => `CAST(${quoted(column)} AS BLOB)`).join(', ');
  const bad = new Map<string, number>();
  const all = database()
    .prepare(`SELECT ${select} FROM ${quoted(table)}`)
    .raw(true)
    .iterate();
  for (const values of all as Iterable<(Uint8Array | null)[]>)
    for (const [index, value] of values.entries()) {
      const column = columns[index]!;
      if (value !== null && !isWhole(value, column.endsWith('_json')))
        bad.set(column, (bad.get(column) ?? 0) + 1);
    }
  if (bad.size === 0) return [];
  return [
    damage(
      `Texts are damaged in ${table}: ${some([...bad].map(([column, count]) => `${count} of ${column}`))}. Restore a backup.`,
    ),
  ];
}

/** Quotes an identifier; another program may have created the table with any name. */
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function isWhole(bytes: Uint8Array, isJson: boolean): boolean {
  try {
    const text = decoder.decode(bytes);
    if (isJson && !isElsewhere(text)) JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
