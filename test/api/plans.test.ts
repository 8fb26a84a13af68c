// The cost of a statement must not grow with its workspace: SQLite may scan a table where an index exists, and no other
// test has enough rows to reveal that.
import { expect, test } from 'bun:test';
import Database from 'libsql';
import { join } from 'node:path';
import { createCompiler } from '../../core/platform/store/compile.ts';
import { registeredStatements } from '../../core/platform/store/statement.ts';
import { startApp } from '../app.ts';

/** Tables that grow with the use of a workspace. */
const growing = [
  ...['issues', 'comments', 'events', 'runs', 'deliveries', 'attempts', 'due_work', 'idempotency'],
  ...['issue_labels', 'plugin_kv', 'release_issues', 'releases', 'project_updates', 'sla_clocks'],
  ...['reactions', 'subscribers', 'inbox_items'],
];

/** Statements that are allowed to scan a whole table. */
const reads: Readonly<Record<string, string>> = {
  'usage.stored_by_keys': 'counts stored objects, only for GET /usage',
  'plugin_kv.sweep': 'cleanup by values of removed plugins',
  'idempotency.sealed': 'no server runs during a master key replacement',
  'deliveries.set_back': 'all open deliveries, after the clock was set back',
};

test('every declared statement is valid SQL for the schema, and each of a workspace is bound to it', async () => {
  const app = await startApp();
  const path = join(app.dataDir, 'tatami.db');
  const [db, planner] = [new Database(path), new Database(path)];
  const compile = createCompiler(db, planner);
  const refused = [...registeredStatements()].flatMap((statement) => {
    try {
      compile(statement);
      return [];
    } catch (error) {
      return [String(error)];
    }
  });
  db.close();
  planner.close();
  await app.stop();
  expect(refused).toEqual([]);
});

test('no statement scans a growing table of a workspace', async () => {
  const app = await startApp();
  const db = new Database(join(app.dataDir, 'tatami.db'));
  const wholes: string[] = [];
  for (const { name, text, sql } of registeredStatements()) {
    // Exports and imports read a whole workspace, in a command and not in the server.
    if (/^(test|exchange|ENDPOINTS)\./.test(name) || name in reads) continue;
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${text}`).all([]) as { detail: string }[];
    for (const { detail } of plan) {
      const [, alias = ''] = /^(?:SCAN|SEARCH) (\w+)/.exec(detail) ?? [];
      const table = alias === '' ? '' : (new RegExp(`(\\w+) AS ${alias}\\b`).exec(sql)?.[1] ?? alias);
      const isWhole = detail.startsWith('SCAN') || detail.endsWith('(workspace_id=?)');
      // One object has few of the events of its workspace.
      const isPast = table === 'events' && /issue_id = /.test(sql) && !detail.includes('events_issue');
      // The last entry of a log is at the end of its index.
      const isEnd = table === 'events' && /max\(sequence\)|ORDER BY sequence DESC LIMIT 1$/.test(sql);
      if ((isWhole || isPast) && !isEnd && growing.includes(table)) wholes.push(`${name}: ${detail}`);
    }
  }
  db.close();
  await app.stop();
  expect(wholes).toEqual([]);
});

test.each(['state_id', 'priority'])('boards count by %s from an index alone', async (column) => {
  const app = await startApp();
  const db = new Database(join(app.dataDir, 'tatami.db'));
  const plan = db
    .prepare(
      `EXPLAIN QUERY PLAN SELECT ${column}, count(*) FROM issues WHERE workspace_id = ?1 AND deleted_at IS NULL
       AND ${column} IN (SELECT value FROM json_each(?2)) GROUP BY ${column}`,
    )
    .all([]) as { detail: string }[];
  db.close();
  await app.stop();
  expect(plan[0]?.detail).toContain('COVERING INDEX');
});
