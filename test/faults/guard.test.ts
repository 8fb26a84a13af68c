// The tenant guard and the binding of values: a statement that could reach another workspace, or a value that libsql
// would corrupt, is rejected before it runs.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type OpenedStore } from '../../core/platform/store/open-store.ts';
import { composedStatement, type Params } from '../../core/platform/store/statement.ts';
import { scopeOf, tenantOp } from '../../core/platform/store/store.ts';

const dir = mkdtempSync(join(tmpdir(), 'tatami-guard-'));
let opened: OpenedStore;
const scope = scopeOf('00000000-0000-7000-8000-00000000000a');

beforeAll(() => {
  opened = openStore(dir, Date.now);
});
afterAll(async () => {
  await opened.close();
  rmSync(dir, { recursive: true, force: true });
});

const run = (sql: string, params: Params = {}): Promise<unknown> =>
  opened.store.read(scope, composedStatement(sql), params);

const sound = [
  'SELECT id FROM issues WHERE workspace_id = :ws',
  'SELECT i.id FROM issues AS i JOIN teams AS t ON t.workspace_id = :ws AND t.id = i.team_id WHERE i.workspace_id = :ws',
  'SELECT id FROM issues WHERE workspace_id = :ws AND (priority = 1 OR priority = 2)',
  'SELECT id, (SELECT count(*) FROM comments AS c WHERE c.workspace_id = :ws AND c.issue_id = issues.id) AS n FROM issues WHERE workspace_id = :ws',
];
const leaky = [
  ['forgotten', 'SELECT id FROM issues WHERE id = :id'],
  ['another workspace', 'SELECT id FROM issues WHERE workspace_id = :other AND :ws = :ws'],
  [
    'forgotten join side',
    'SELECT i.id FROM issues AS i JOIN teams AS t ON t.id = i.team_id WHERE i.workspace_id = :ws',
  ],
  ['OR leak', 'SELECT id FROM issues WHERE workspace_id = :ws OR priority = 1'],
  [
    'unscoped subquery',
    'SELECT id FROM issues WHERE workspace_id = :ws AND team_id IN (SELECT id FROM teams)',
  ],
  ['union', 'SELECT id FROM issues WHERE workspace_id = :ws UNION SELECT id FROM issues'],
  ['inequality', 'SELECT id FROM issues WHERE workspace_id <> :ws'],
  ['insert elsewhere', "INSERT INTO cursors (workspace_id, consumer, sequence) VALUES ('x', :ws, 1)"],
  [
    'insert without workspace first',
    'INSERT INTO cursors (consumer, workspace_id, sequence) VALUES (:ws, :ws, 1)',
  ],
  ['move', "UPDATE cursors SET workspace_id = 'x' WHERE workspace_id = :ws"],
  ['delete all', 'DELETE FROM cursors WHERE consumer = :ws'],
] as const;

describe('tenant guard', () => {
  for (const sql of sound) test(`accepts ${sql}`, async () => expect(await run(sql)).toEqual([]));
  for (const [name, sql] of leaky)
    test(`rejects: ${name}`, async () => {
      const params = Object.fromEntries(
        [...sql.matchAll(/:(id|other)\b/g)].map(([, param]) => [param!, 'x']),
      );
      expect(run(sql, params)).rejects.toThrow('is not bound to its workspace');
    });
});

describe('the binding of values', () => {
  const write = composedStatement(
    'INSERT INTO cursors (workspace_id, consumer, sequence) VALUES (:ws, :consumer, :sequence)',
  );
  const commit = (params: object) => opened.store.commit([tenantOp(scope, write, params as Params)]);
  const refused: [string, object, string][] = [
    ['a boolean, which would end the process', { consumer: 'a', sequence: true }, 'cannot be bound: boolean'],
    ['undefined', { consumer: 'a', sequence: undefined }, 'it is missing'],
    ['NaN', { consumer: 'a', sequence: Number.NaN }, 'cannot be bound'],
    ['a missing parameter', { consumer: 'a' }, 'it is missing'],
    ['an extra parameter', { consumer: 'a', sequence: 1, more: 1 }, 'has no parameter more'],
    ['another workspace', { consumer: 'a', sequence: 1, ws: 'x' }, 'has no parameter ws'],
    ['U+0000', { consumer: 'a\0b', sequence: 1 }, 'U+0000'],
    ['an object', { consumer: {}, sequence: 1 }, 'cannot be bound: object'],
  ];
  for (const [name, params, message] of refused)
    test(`rejects ${name}, without effect on the other jobs of the group`, async () => {
      const [bad, good] = await Promise.allSettled([
        commit(params),
        commit({ consumer: `good ${name}`, sequence: 1 }),
      ]);
      expect(bad.status === 'rejected' && String(bad.reason)).toContain(message);
      expect(good).toMatchObject({ status: 'fulfilled', value: { ok: true } });
    });

  test('a lost race rolls back its entire batch and reports the op', async () => {
    const move = composedStatement(
      'UPDATE cursors SET sequence = 2 WHERE workspace_id = :ws AND consumer = :consumer',
    );
    const outcome = await opened.store.commit([
      tenantOp(scope, write, { consumer: 'undone', sequence: 1 }),
      tenantOp(scope, move, { consumer: 'nobody' }, { expectRows: 1 }),
    ]);
    expect(outcome).toMatchObject({ ok: false, op: 1, reason: 'lost_race' });
    expect(
      await run("SELECT consumer FROM cursors WHERE workspace_id = :ws AND consumer = 'undone'"),
    ).toEqual([]);
  });
});
