// Declared statements are checked when the store opens: query plans of tenant statements, syntax of system statements.
import { afterAll, expect, test } from 'bun:test';
import Database from 'libsql';
import { createCompiler } from './compile.ts';
import { composedStatement, type Statement } from './statement.ts';

const open = (): Database.Database => {
  const db = new Database(':memory:');
  db.exec('CREATE TABLE notes (workspace_id TEXT, id TEXT, PRIMARY KEY (workspace_id, id)) WITHOUT ROWID');
  return db;
};
const [db, planner] = [open(), open()];
afterAll(() => {
  for (const one of [db, planner]) one.close();
});

/** Builds a declared statement outside the registry, so that other tests of this process do not check it. */
const declared = (reach: Statement['reach'], sql: string): Statement => ({
  ...composedStatement(sql),
  name: 'declared',
  reach,
});

test('a statement that is not SQL, or references a missing table or column, is rejected before it is used', () => {
  const compile = createCompiler(db, planner);
  for (const reach of ['tenant', 'system'] as const)
    for (const sql of [
      'SELEC id FROM notes WHERE workspace_id = :ws',
      'SELECT id FROM nowhere WHERE workspace_id = :ws',
    ])
      expect(() => compile(declared(reach, sql))).toThrow(/syntax error|no such table/);
});

test('a forbidden tenant statement is rejected before it is used, and an allowed one is prepared at its first use', () => {
  const compile = createCompiler(db, planner);
  expect(() => compile(declared('tenant', 'SELECT id FROM notes WHERE :ws = :ws'))).toThrow(
    'across workspaces',
  );
  const { prepared, toRow } = compile(declared('tenant', 'SELECT id FROM notes WHERE workspace_id = :ws'));
  expect(prepared.all(['ws_a'])).toEqual([]);
  expect(toRow(['n_1'])).toEqual({ id: 'n_1' });
});

test('a plan of one schema is not reused for another', () => {
  const statement = declared('tenant', 'SELECT id FROM notes WHERE workspace_id = :ws');
  const other = new Database(':memory:');
  other.exec('CREATE TABLE notes (workspace_id TEXT, id TEXT)');
  expect(() => createCompiler(db, planner)(statement)).not.toThrow();
  expect(() => createCompiler(other, other)(statement)).toThrow('not bound to its workspace');
  expect(() => createCompiler(db, planner)(statement)).not.toThrow();
  other.close();
});
