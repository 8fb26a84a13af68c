// Names of statements are registered once per process, so each case has its own.
import { expect, test } from 'bun:test';
import { scopeOf, type Op } from '../../platform/store/store.ts';
import { boardCardTable } from '../../features/boards/tables.ts';

const { select, selectAll, insert, upsert, update, remove } = boardCardTable;
const scope = scopeOf('ws');
const card = { board_id: 'b', issue_id: 'i', rank: 'r' };
const plain = (sql: string): string => sql.replaceAll(/\s+/g, ' ').trim();
const sqlOf = ({ statement }: Pick<Op, 'statement'>): string => plain(statement.sql);

test('reads have the given columns, conditions and order', () => {
  expect(sqlOf(select('test_select', ['rank'], ['board_id'], 'ORDER BY rank'))).toBe(
    'SELECT rank FROM board_cards WHERE workspace_id = :ws AND board_id = :board_id ORDER BY rank',
  );
  expect(sqlOf(selectAll('test_all', []))).toBe(
    'SELECT board_id, issue_id, rank FROM board_cards WHERE workspace_id = :ws',
  );
});

test('a write binds each parameter to the column of its name', () => {
  expect(sqlOf(insert('test_insert')(scope, card))).toBe(
    'INSERT INTO board_cards (workspace_id, board_id, issue_id, rank) VALUES (:ws, :board_id, :issue_id, :rank)',
  );
  const change = update('test_update', ['rank'], ['board_id', 'issue_id'], "rank < 'M' OR rank > 'W'");
  expect(sqlOf(change(scope, card))).toBe(
    "UPDATE board_cards SET rank = :rank WHERE workspace_id = :ws AND board_id = :board_id AND issue_id = :issue_id AND (rank < 'M' OR rank > 'W')",
  );
  expect(sqlOf(remove('test_remove', ['board_id'])(scope, { board_id: 'b' }))).toBe(
    'DELETE FROM board_cards WHERE workspace_id = :ws AND board_id = :board_id',
  );
});

test('an upsert sets columns of the row with the same key, and leaves that row if it sets none', () => {
  const columns = ['board_id', 'issue_id', 'rank'] as const;
  expect(sqlOf(upsert('test_upsert', columns, ['rank'])(scope, card))).toEndWith(
    'ON CONFLICT (workspace_id, board_id, issue_id) DO UPDATE SET rank = excluded.rank',
  );
  expect(sqlOf(upsert('test_ignore', columns, [])(scope, card))).toEndWith(
    'ON CONFLICT (workspace_id, board_id, issue_id) DO NOTHING',
  );
});

test('a misspelt column or parameter does not compile', () => {
  // Never called: a statement that is declared is checked against the schema by every store that is opened later.
  const misspelt = [
    // @ts-expect-error the column is `rank`
    () => select('test_misspelt_select', ['rang'], ['board_id']),
    // @ts-expect-error the column is `board_id`
    () => update('test_misspelt_update', ['rank'], ['board']),
    // @ts-expect-error the column is `board_id`
    () => remove('test_misspelt_remove', ['boardId']),
    // @ts-expect-error the rank is missing
    () => insert('test_missing')(scope, { board_id: 'b', issue_id: 'i' }),
  ];
  expect(misspelt).toHaveLength(4);
});
