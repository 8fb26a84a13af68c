// Checks with the plans of the real schema which lists may run on the event loop.
import Database from 'libsql';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isScan } from './compile.ts';
import { migrate } from './migrate.ts';

let dir: string;
let db: Database.Database;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tatami-cost-'));
  migrate({ path: join(dir, 'a.db'), snapshots: join(dir, 'snapshots'), nowMs: () => 0 });
  db = new Database(join(dir, 'a.db'));
});
afterAll(() => {
  db.close();
  rmSync(dir, { recursive: true, force: true });
});

function scans(table: string, terms: readonly string[], order: string, beyond = ''): boolean {
  const where = ['workspace_id = :ws', ...terms, ...(beyond ? [beyond] : [])].join(' AND ');
  const sql = `SELECT id FROM ${table} WHERE ${where} ORDER BY ${order} LIMIT 51`;
  const lines = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
  const definitionOf = (index: string): string =>
    (db.prepare('SELECT sql FROM sqlite_master WHERE name = ?').get(index) as { sql: string }).sql;
  return isScan(
    lines.map(({ detail }) => detail),
    terms,
    definitionOf,
  );
}

const live = 'deleted_at IS NULL';
const newest = 'created_at desc, id desc';

test('lists that an index filters and orders run on the event loop', () => {
  expect(scans('issues', [live], newest)).toBe(false);
  expect(scans('issues', [live], newest, '(created_at, id) < (:k0, :k1)')).toBe(false);
  expect(scans('issues', [live], 'updated_at asc, id asc')).toBe(false);
  for (const column of [
    'team_id',
    'state_id',
    'assignee_id',
    'priority',
    'project_id',
    'parent_id',
    'creator_id',
  ])
    expect([column, scans('issues', [live, `(${column} IN (:f0))`], newest)]).toEqual([column, false]);
  expect(scans('runs', ['install_id = :installId'], newest)).toBe(false);
  expect(scans('deliveries', ['endpoint_id = :endpointId'], newest)).toBe(false);
  expect(scans('deliveries', ['created_at >= :since', 'created_at < :until'], newest)).toBe(false);
});

test('lists that may scan every row do not run on the event loop', () => {
  for (const term of [
    'instr(lower(title), :f0) > 0',
    '(estimate IN (:f0))',
    '(updated_at > :f0)',
    'team_id IS NOT NULL',
    '(team_id IN (:f0) OR title IN (:f1))',
    '(team_id IS NULL OR NOT team_id IN (:f0))',
    'EXISTS (SELECT 1 FROM issue_labels AS l WHERE l.workspace_id = :ws AND l.issue_id = issues.id)',
    ':f0',
  ])
    expect([term, scans('issues', [live, term], newest)]).toEqual([term, true]);
  // A list over several values needs a sort, and an index seeks only one of two columns.
  expect(scans('issues', [live, '(state_id IN (:f0, :f1))'], newest)).toBe(true);
  expect(scans('issues', [live, '(team_id IN (:f0))', '(state_id IN (:f1))'], newest)).toBe(true);
  expect(scans('issues', [live], 'title asc, id asc')).toBe(true);
  // Many deleted comments may precede the first one that is shown.
  expect(scans('comments', [live, 'issue_id = :issueId'], 'created_at asc, id asc')).toBe(true);
  expect(scans('runs', ['install_id = :installId', 'status = :status'], newest)).toBe(true);
  expect(scans('labels', [live], 'created_at asc, id asc')).toBe(true);
});
