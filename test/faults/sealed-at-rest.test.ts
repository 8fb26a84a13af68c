// Sealed columns are declared in one list, and a rotation of the master key covers all of them, in every form.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import {
  sealedAtRest,
  sealedFor,
  type SealedColumn,
  createSealing,
  type Sealing,
} from '../../core/platform/lib/secrets/sealing.ts';
import { rotateMasterKey } from '../../core/app/setup/rotate-master-key.ts';
import { openStore } from '../../core/platform/store/open-store.ts';
import type { Value } from '../../core/platform/store/statement.ts';
import { testStart } from '../app.ts';
import { insertPlaceholderRow } from './placeholder-row.ts';

const nowMs = (): number => testStart;
const workspaceId = '00000000-0000-7000-8000-000000000001';
const tables = [...new Set(sealedAtRest.map(({ table }) => table))];
const columns: readonly (SealedColumn & (typeof sealedAtRest)[number])[] = sealedAtRest;
const workspaceOf = ({ ofInstallation = false }: SealedColumn): string => (ofInstallation ? '' : workspaceId);

let dataDir: string;
let db: InstanceType<typeof Database>;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'tatami-sealed-'));
  await openStore(dataDir, nowMs).close();
  db = new Database(join(dataDir, 'tatami.db'));
});
afterAll(() => {
  db.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function sealingNow(): Sealing {
  const key = Buffer.from(readFileSync(join(dataDir, 'master.key'), 'utf8'), 'base64');
  return createSealing(new Uint8Array(key));
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const ofBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));

/** The value of a column with one or two sealed texts. */
function sealedValueOf({ form, column }: SealedColumn, seal: (text: string) => Uint8Array): Value {
  if (form === 'bytes') return seal('one');
  if (form === 'base64') return JSON.stringify(base64(seal('one')));
  const members = ['one', null, 'two'].map((text) => ({
    ...{ at: 7, sealed: text === null ? null : base64(seal(text)) },
  }));
  return JSON.stringify(column === 'url' ? { text: 'https://a.example/?…', ...members[0] } : members);
}

function openSealedValue(
  { form, column }: SealedColumn,
  held: Value,
  open: (sealed: Uint8Array) => string,
): unknown {
  if (form === 'bytes') return open(new Uint8Array(held as Uint8Array));
  const value: unknown = JSON.parse(String(held));
  if (form === 'base64') return open(ofBase64(value as string));
  const members = (column === 'url' ? [value] : value) as { at: number; sealed: string | null }[];
  return members.map(({ at, sealed }) => [at, sealed === null ? null : open(ofBase64(sealed))]);
}

test('each sealed column is in the list', () => {
  const sealedByName = db
    .prepare(
      `SELECT t.name || '.' || c.name AS name FROM sqlite_schema t, pragma_table_info(t.name) c
       WHERE t.type = 'table' AND c.name LIKE '%sealed%' AND c.type <> 'INTEGER'`,
    )
    .all() as { name: string }[];
  const listed: readonly string[] = sealedAtRest.map(({ table, column }) => `${table}.${column}`);
  expect(sealedByName.length).toBeGreaterThan(4);
  expect(sealedByName.map(({ name }) => name).filter((name) => !listed.includes(name))).toEqual([]);
});

test('a value can be sealed only for an entry of the list', () => {
  const sealing = sealingNow();
  // @ts-expect-error A rotation would miss an undeclared purpose, so the types reject it.
  const sealed = sealing.seal('forgotten', `calendar-token:${workspaceId}:1`);
  expect(sealed.length).toBeGreaterThan(28);
});

test('after a rotation all sealed values open with the new master key, and none with the old one', async () => {
  const before = sealingNow();
  for (const table of tables) {
    const own = columns.filter((one) => one.table === table);
    const sealedValues = own.map((one) => {
      const seal = (text: string): Uint8Array =>
        before.seal(text, sealedFor(one.purpose, workspaceOf(one), `${table}_1`));
      return [one.column, sealedValueOf(one, seal)] as const;
    });
    insertPlaceholderRow(db, table, {
      workspace_id: workspaceId,
      id: `${table}_1`,
      ...(table === 'idempotency' ? { sealed: 1n } : {}),
      ...Object.fromEntries(sealedValues),
    });
  }
  // A response without secrets is stored unsealed.
  const plain = { workspace_id: workspaceId, body: Buffer.from('plain'), sealed: 0n };
  insertPlaceholderRow(db, 'idempotency', { ...plain, id: 'plain' });

  const { resealed } = await rotateMasterKey(dataDir, nowMs);
  expect(resealed).toBe(sealedAtRest.length);
  const after = sealingNow();
  for (const one of columns) {
    const { table, column, purpose } = one;
    const row = db.prepare(`SELECT ${column} AS held FROM ${table} WHERE id = ?`).get(`${table}_1`);
    const { held } = row as { held: Value };
    const of = sealedFor(purpose, workspaceOf(one), `${table}_1`);
    const opened = openSealedValue(one, held, (sealed) => after.open(sealed, of));
    const whole = [
      [7, 'one'],
      ...(column === 'url'
        ? []
        : [
            [7, null],
            [7, 'two'],
          ]),
    ];
    expect([table, column, opened]).toEqual([table, column, one.form === 'members' ? whole : 'one']);
    expect(() => openSealedValue(one, held, (sealed) => before.open(sealed, of))).toThrow();
  }
  const plainRow = db.prepare(`SELECT body FROM idempotency WHERE id = 'plain'`).get() as {
    body: ArrayBuffer;
  };
  expect(Buffer.from(plainRow.body).toString()).toBe('plain');
});
