// The two-tenant property of the store: every registered tenant statement, run with the ids and values of one workspace
// under the scope of another, reads nothing of the first and changes nothing of it. The isolation of the API is tested
// at its endpoints; this also covers statements that no route reaches.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import Database from 'libsql';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  composedStatement,
  registeredStatements,
  type Params,
  type Statement,
  type Value,
} from '../../core/platform/store/statement.ts';
import { scopeOf, tenantOp, type Scope } from '../../core/platform/store/store.ts';
import { seed as seedWorkspace } from '../api/seeds.ts';
import { startApp, type TestApp } from '../app.ts';
import { insertPlaceholderRow } from './placeholder-row.ts';
import { seededRandom } from './server.ts';

const rounds = process.env.TATAMI_LONG ? 40 : 10;
/** With several objects of an entity, matching values are seldom picked together. */
const ownRounds = 20 * rounds;
const seed = 20_261_120;
const stranger = scopeOf('00000000-0000-7000-8000-00000000dead');

let app: TestApp;
let db: InstanceType<typeof Database>;
let victim: Scope;
/** Tables whose rows belong to a workspace. */
let tables: string[];
/** Values of the victim's rows, by column and by `table.column`. */
let columns: Map<string, Value[]>;
let rows: Map<string, readonly Readonly<Record<string, Value>>[]>;
let statements: Statement<unknown>[];

const all = (sql: string, ...values: Value[]): Record<string, Value>[] =>
  db.prepare(sql).all(values) as Record<string, Value>[];
const rowsOf = (table: string): Record<string, Value>[] =>
  all(`SELECT * FROM ${table} WHERE workspace_id = ?1 ORDER BY 1, 2, 3`, victim.workspaceId);
let summed = { version: null as Value, sum: '' };
/** Checksum of all rows of the victim. Tables without writes since the last call are not read again. */
const checksum = (): string => {
  const version = all('PRAGMA data_version')[0]!.data_version!;
  if (version !== summed.version) {
    const rows = JSON.stringify(tables.map(rowsOf));
    summed = { version, sum: createHash('sha256').update(rows).digest('hex') };
  }
  return summed.sum;
};

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  victim = scopeOf(app.workspace.workspaceId);
  await seedWorkspace(app, app.call, 'ENG', 'http://127.0.0.1:1/');
  db = new Database(join(app.dataDir, 'tatami.db'));
  tables = all(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  )
    .map(({ name }) => String(name))
    .filter((table) => all(`PRAGMA table_info(${table})`).some(({ name }) => name === 'workspace_id'));
  // One row in every table that the calls above did not fill.
  for (const table of tables)
    if (rowsOf(table).length === 0) insertPlaceholderRow(db, table, { workspace_id: victim.workspaceId });
  // The event loop sees rows of another connection after its own next write.
  await app.call('POST', '/api/v1/labels', { name: 'Secret label', color: '#112233' });
  columns = new Map();
  rows = new Map();
  const addValue = (name: string, value: Value): void =>
    void columns.set(name, [...(columns.get(name) ?? []), value]);
  for (const table of tables) {
    const all = rowsOf(table).map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          value instanceof ArrayBuffer ? new Uint8Array(value) : value,
        ]),
      ),
    );
    rows.set(table, all);
    for (const [name, value] of all.flatMap((row) => Object.entries(row))) {
      if (name === 'workspace_id' || value === null) continue;
      addValue(name, value);
      addValue(`${table}.${name}`, value);
    }
  }
  // Excludes statements that other tests of this process declare.
  statements = [...registeredStatements()].filter(
    ({ reach, name }) => reach === 'tenant' && !/^(test|ENDPOINTS)\./.test(name),
  );
});
afterAll(async () => {
  db.close();
  await app.stop();
});

/** Parameters from the victim's values: of the column with the name of the parameter, else of any column. */
function victimsParams(statement: Statement<unknown>, random: () => number): Params {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const table = /\b(?:FROM|INTO|UPDATE)\s+(\w+)/i.exec(statement.sql)?.[1];
  const ids = [...columns].filter(([name]) => /^(\w+_)?id$/.test(name)).flatMap(([, values]) => values);
  const params: Record<string, Value> = {};
  // In half of the rounds all values are those of one row, as in a call with only the wrong workspace.
  const isInsert = /^\s*INSERT/i.test(statement.sql);
  const fitting = random() < 0.5;
  const row = pick(rows.get(table ?? '') ?? [{}]);
  for (const name of statement.params) {
    if (name === 'ws') continue;
    const column = name.replaceAll(/[A-Z]/g, (upper) => `_${upper.toLowerCase()}`);
    // Rows that belong to another one are deleted by the id of their owner.
    const owner = /\.drop_of_(\w+)$/.exec(statement.name)?.[1];
    const own =
      (owner === undefined ? undefined : columns.get(`${owner}.id`)) ??
      (fitting && row[column] !== undefined ? [row[column]] : undefined) ??
      columns.get(`${table}.${column}`) ??
      columns.get(column) ??
      columns.get(`${column}_id`) ??
      columns.get(`${column}_json`);
    const roll = fitting ? 0 : random();
    if (/^(id|name|key|prefix|email|number)$/.test(name) && isInsert && random() < 0.5)
      params[name] = name === 'number' ? Math.floor(random() * 1e9) : `new_${random()}`;
    else if (statement.sql.includes(`json_each(:${name})`)) params[name] = JSON.stringify(ids);
    else if (/^(limit|now|until|to|before)$/.test(name)) params[name] = pick([1, 100, 9_000_000_000_000_000]);
    else if (/^(after|from|base|epoch|sequence)$/.test(name)) params[name] = pick([0, 1, 2]);
    else if (statement.sql.includes(`:${name} - 1`)) params[name] = pick([1, 2, 3]);
    else if (own && roll < 0.8) params[name] = pick(own);
    else if (fitting) params[name] = null;
    else params[name] = pick(roll < 0.95 ? ids : [0, 1, 'secret']);
  }
  return params;
}

const isRead = (statement: Statement<unknown>): boolean =>
  /^\s*(SELECT|WITH)/i.test(statement.sql) && statement.returnsRows;

/** A row with data: not the zeroes and NULLs of an aggregate over no rows. */
const hasData = (row: object): boolean => Object.values(row).some((value) => value !== null && value !== 0);

test('every registered tenant statement names its workspace', () => {
  expect(statements.length).toBeGreaterThan(40);
  for (const { name, params } of statements) expect([name, params.includes('ws')]).toEqual([name, true]);
});

const readAs = (scope: Scope, statement: Statement<unknown>, params: Params): Promise<object[]> =>
  app.services.store.read<object>(scope, statement as Statement<object>, params).catch(() => []);

/** Data that another workspace read, or null. */
async function leakOf(statement: Statement<unknown>, random: () => number): Promise<string | null> {
  for (let round = 0; round < rounds; round++) {
    const params = victimsParams(statement, random);
    const rows = await readAs(stranger, statement, params);
    if (rows.some(hasData))
      return `${statement.name} ${JSON.stringify(params)} showed ${JSON.stringify(rows)} (seed ${seed})`;
  }
  return null;
}

test('no read returns data of another workspace, regardless of the given ids', async () => {
  const random = seededRandom(seed);
  const reads = statements.filter(isRead);
  for (const statement of reads) expect(await leakOf(statement, random)).toBeNull();

  // Control: with the owner's scope, most statements return rows for these values.
  const mute = new Set(reads.map(({ name }) => name));
  for (const statement of reads)
    for (let round = 0; round < ownRounds && mute.has(statement.name); round++)
      if ((await readAs(victim, statement, victimsParams(statement, random))).some(hasData))
        mute.delete(statement.name);
  expect([[...mute], mute.size < reads.length / 4]).toEqual([[...mute], true]);
});

test('a read without its workspace condition is detected', async () => {
  const forgetful: Statement = {
    ...composedStatement('SELECT title FROM issues WHERE id = :id'),
    reach: 'system',
  };
  expect(await leakOf(forgetful, seededRandom(seed))).toMatch(/secret/i);
});

test('no write changes another workspace, regardless of the given ids', async () => {
  const random = seededRandom(seed);
  const writes = statements.filter((statement) => !isRead(statement));
  const before = checksum();
  const attempt = async (scope: Scope, statement: Statement<unknown>): Promise<void> => {
    const params = victimsParams(statement, random);
    await app.services.store.commit([tenantOp(scope, statement, params)]).catch(() => null);
  };
  for (const statement of writes) {
    for (let round = 0; round < rounds; round++) await attempt(stranger, statement);
    if (checksum() !== before) throw new Error(`${statement.name} changed another workspace (seed ${seed})`);
  }
  expect(app.services.store.status()).toEqual({ writable: true, reason: null });

  // Control: with the owner's scope, the same values change the workspace.
  const effective = new Set<string>();
  for (const statement of writes) {
    const from = checksum();
    for (let round = 0; round < 2 * rounds && !effective.has(statement.name); round++) {
      await attempt(victim, statement);
      if (checksum() !== from) effective.add(statement.name);
    }
  }
  const idle = writes.map(({ name }) => name).filter((name) => !effective.has(name));
  expect([idle, idle.length < writes.length / 2]).toEqual([idle, true]);
}, 60_000);
