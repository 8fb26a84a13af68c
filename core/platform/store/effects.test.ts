import { expect, test } from 'bun:test';
import { effectOf } from './effects.ts';
import { composedStatement } from './statement.ts';

const effect = (sql: string) => {
  const found = effectOf(composedStatement(sql));
  if (!found) return null;
  const { table, kind, columns, keys } = found;
  return [table, kind, columns && [...columns].join(), Object.fromEntries(keys)] as unknown[];
};

test.each<[what: string, sql: string, expected: ReturnType<typeof effect>]>([
  ['a read', 'SELECT id FROM issues WHERE workspace_id = :ws', null],
  [
    'an insert of one row',
    "INSERT INTO issues (workspace_id, id, title, number) VALUES (:ws, :id, 'a, (b', coalesce(:number, (SELECT max(n) FROM t)))",
    ['issues', 'insert', null, { workspace_id: 'ws', id: 'id' }],
  ],
  [
    'an insert of several rows',
    'INSERT INTO cards (workspace_id, id) VALUES (:ws, :one), (:ws, :two)',
    ['cards', 'insert', null, {}],
  ],
  [
    'an insert of the rows of a SELECT',
    'INSERT INTO issue_labels (workspace_id, issue_id, label_id) SELECT :ws, :issueId, w.id FROM labels AS w WHERE w.id = :other',
    ['issue_labels', 'insert', null, { workspace_id: 'ws', issue_id: 'issueId' }],
  ],
  [
    'an upsert, which has the values of its key only',
    'INSERT INTO cards (workspace_id, id, board_id) VALUES (:ws, :id, :board) ON CONFLICT (workspace_id, id) DO UPDATE SET board_id = excluded.board_id',
    ['cards', 'insert', null, { workspace_id: 'ws', id: 'id' }],
  ],
  [
    'an upsert without a key',
    'INSERT INTO cards (workspace_id, id) VALUES (:ws, :id) ON CONFLICT DO UPDATE SET board_id = 1',
    ['cards', 'insert', null, {}],
  ],
  [
    'an insert that replaces other rows',
    'INSERT OR REPLACE INTO cards (workspace_id, id) VALUES (:ws, :id)',
    ['cards', 'insert', null, {}],
  ],
  [
    'an update of one row',
    'UPDATE issues SET version = version + 1, title = :title, due = max(due, :at) WHERE workspace_id = :ws AND id = :id AND version = :base RETURNING id',
    ['issues', 'update', 'version,title,due', { workspace_id: 'ws', id: 'id' }],
  ],
  [
    'an update that changes nothing',
    'UPDATE issues SET version = version WHERE workspace_id = :ws AND id = :id AND NOT EXISTS (SELECT 1 FROM t WHERE t.id = :x OR 1)',
    ['issues', 'update', '', { workspace_id: 'ws', id: 'id' }],
  ],
  [
    'an update of the column by which it finds rows',
    'UPDATE cards SET board_id = :to WHERE workspace_id = :ws AND board_id = :from',
    ['cards', 'update', 'board_id', { workspace_id: 'ws' }],
  ],
  [
    'an update of a list of columns',
    'UPDATE cards SET (a, b) = (1, 2) WHERE workspace_id = :ws AND id = :id',
    ['cards', 'update', null, {}],
  ],
  [
    'an update of rows with one value or another',
    'UPDATE cards SET a = 1 WHERE workspace_id = :ws AND id = :id OR id = :other',
    ['cards', 'update', 'a', {}],
  ],
  [
    'an update of many rows',
    'UPDATE cards SET a = 1 WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))',
    ['cards', 'update', 'a', { workspace_id: 'ws' }],
  ],
  [
    'a removal after a common table expression',
    'WITH gone AS (SELECT id FROM cards WHERE id = :id) DELETE FROM cards WHERE workspace_id = :ws AND id IN (SELECT id FROM gone)',
    ['cards', 'delete', null, { workspace_id: 'ws' }],
  ],
])('the effect of %s is read from its SQL', (_, sql, expected) => expect(effect(sql)).toEqual(expected));
