// Tenant guard: each leaky form of a statement is rejected, each correct one accepted. Query plans come from SQLite itself.
import { afterAll, expect, test } from 'bun:test';
import Database from 'libsql';
import { composedStatement } from './statement.ts';
import { tenantBreach } from './tenant-guard.ts';

const db = new Database(':memory:');
db.exec(`
  CREATE TABLE issues (workspace_id TEXT, id TEXT, team_id TEXT, title TEXT, n INTEGER, PRIMARY KEY (workspace_id, id)) STRICT, WITHOUT ROWID;
  CREATE INDEX issues_team ON issues (workspace_id, team_id);
  CREATE TABLE teams (workspace_id TEXT, id TEXT, name TEXT, PRIMARY KEY (workspace_id, id)) STRICT, WITHOUT ROWID;
  CREATE TABLE plain (id INTEGER PRIMARY KEY, position INTEGER) STRICT;
  CREATE VIRTUAL TABLE words USING fts5(title);
  CREATE VIRTUAL TABLE search_index USING fts5(title, content='', contentless_delete=1);
  CREATE TABLE search_documents (workspace_id TEXT, issue_id TEXT, id TEXT, doc INTEGER, PRIMARY KEY (workspace_id, issue_id, id)) STRICT, WITHOUT ROWID;
  CREATE INDEX search_documents_doc ON search_documents (workspace_id, doc);`);
afterAll(() => db.close());

function breach(sql: string): string | null {
  const statement = composedStatement(sql);
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${statement.text}`).all() as { detail: string }[];
  return tenantBreach(
    statement,
    plan.map((line) => line.detail),
  );
}

test.each([
  ['a look-up', 'SELECT * FROM issues WHERE workspace_id = :ws AND id = :id'],
  ['a list over an index', 'SELECT * FROM issues WHERE workspace_id = :ws AND team_id = :t ORDER BY team_id'],
  [
    'a join on the workspace',
    'SELECT i.id, t.name FROM issues i JOIN teams t ON t.workspace_id = i.workspace_id AND t.id = i.team_id WHERE i.workspace_id = :ws',
  ],
  [
    'a left join bound twice',
    'SELECT i.id FROM issues i LEFT JOIN teams t ON t.workspace_id = :ws AND t.id = i.team_id WHERE i.workspace_id = :ws',
  ],
  [
    'a scoped subquery',
    'SELECT id FROM issues WHERE workspace_id = :ws AND team_id IN (SELECT id FROM teams WHERE workspace_id = :ws)',
  ],
  ['an OR inside the scope', 'SELECT id FROM issues WHERE workspace_id = :ws AND (team_id = :a OR n = :b)'],
  [
    'a scoped derived table',
    'WITH found AS MATERIALIZED (SELECT id FROM issues WHERE workspace_id = :ws) SELECT id FROM found',
  ],
  [
    'a list of ids as JSON',
    'SELECT i.id FROM json_each(:ids) j JOIN issues i ON i.workspace_id = :ws AND i.id = j.value',
  ],
  ['an insert', 'INSERT INTO teams (workspace_id, id, name) VALUES (:ws, :id, :name)'],
  [
    'an insert by select',
    'INSERT INTO teams (workspace_id, id, name) SELECT :ws, id, title FROM issues WHERE workspace_id = :ws',
  ],
  [
    'an insert by select of several arms',
    `INSERT INTO teams (workspace_id, id, name) SELECT :ws, id, title FROM issues WHERE workspace_id = :ws UNION ALL
       SELECT :ws, id, name FROM teams WHERE workspace_id = :ws UNION SELECT :ws, :id, :name`,
  ],
  [
    'an upsert',
    'INSERT INTO teams (workspace_id, id, name) VALUES (:ws, :id, :n) ON CONFLICT (workspace_id, id) DO UPDATE SET name = :n',
  ],
  ['an update', 'UPDATE issues SET title = :t WHERE workspace_id = :ws AND id = :id RETURNING id'],
  [
    'a keyset delete',
    'DELETE FROM issues WHERE (workspace_id, id) IN (SELECT workspace_id, id FROM issues WHERE workspace_id = :ws LIMIT 5) AND workspace_id = :ws',
  ],
])('%s is accepted', (_, sql) => {
  expect(breach(sql)).toBeNull();
});

test.each([
  ['no workspace at all', 'SELECT * FROM issues WHERE id = :id'],
  [':ws in the select list only', 'SELECT :ws, title FROM issues WHERE id = :id'],
  ['a condition that is always true', 'SELECT * FROM issues WHERE :ws = :ws'],
  [
    'a forgotten join side',
    'SELECT i.id, t.name FROM issues i JOIN teams t ON t.id = i.team_id WHERE i.workspace_id = :ws',
  ],
  ['an OR leak', 'SELECT * FROM issues WHERE workspace_id = :ws OR team_id = :t'],
  [
    'an OR leak by precedence',
    'SELECT * FROM issues WHERE workspace_id = :ws AND team_id = :a OR team_id = :b',
  ],
  [
    'an unscoped subquery',
    'SELECT id FROM issues WHERE workspace_id = :ws AND team_id IN (SELECT id FROM teams WHERE name = :n)',
  ],
  [
    'an unscoped scalar subquery',
    'SELECT id, (SELECT count(*) FROM issues) FROM issues WHERE workspace_id = :ws',
  ],
  ['an unscoped EXISTS', 'SELECT 1 FROM teams WHERE workspace_id = :ws AND EXISTS (SELECT 1 FROM issues)'],
  ['one arm of a union', 'SELECT id FROM issues WHERE workspace_id = :ws UNION ALL SELECT id FROM issues'],
  ['another parameter', 'SELECT :ws FROM issues WHERE workspace_id = :other'],
  ['another parameter, operands swapped', 'SELECT :ws FROM issues WHERE :other = workspace_id'],
  ['another parameter beside :ws', 'SELECT id FROM issues WHERE workspace_id IN (:ws, :other)'],
  ['another parameter in a row value', 'SELECT :ws FROM issues WHERE (workspace_id, id) = (:other, :id)'],
  ['a literal', "SELECT :ws FROM issues WHERE workspace_id = 'ws_b'"],
  ['an expression', 'SELECT id FROM issues WHERE workspace_id = coalesce(:other, :ws)'],
  ['a quoted name', 'SELECT :ws FROM issues WHERE "workspace_id" = :other'],
  ['a bracketed name', 'SELECT :ws FROM issues WHERE [workspace_id] = :other'],
  ['a comment between', 'SELECT :ws FROM issues WHERE workspace_id /* mine */ = :other'],
  [
    'a workspace taken from JSON',
    'SELECT :ws, i.id FROM (SELECT value AS workspace_id FROM json_each(:list)) j JOIN issues i ON i.workspace_id = j.workspace_id',
  ],
  [
    'a derived table with the name of a table',
    'WITH issues AS MATERIALIZED (SELECT * FROM main.issues) SELECT :ws, id FROM issues',
  ],
  [
    'a table with the name of a derived table',
    'WITH j AS MATERIALIZED (SELECT id FROM issues WHERE workspace_id = :ws) SELECT (SELECT count(*) FROM issues AS j) FROM j',
  ],
  [
    'a workspace taken from JSON without AS',
    'SELECT :ws, i.id FROM (SELECT value workspace_id FROM json_each(:list)) j JOIN issues i ON i.workspace_id = j.workspace_id',
  ],
  [
    'a workspace taken from JSON through a WITH',
    'WITH j(workspace_id) AS (SELECT value FROM json_each(:list)) SELECT :ws, i.id FROM j JOIN issues i ON i.workspace_id = j.workspace_id',
  ],
  ['a workspace that is computed', 'SELECT id FROM issues WHERE workspace_id = :ws || :suffix'],
  ['a table without workspaces', 'SELECT position, :ws FROM plain WHERE id = :id'],
  ['a full-text table', 'SELECT :ws, title FROM words WHERE words MATCH :q'],
  [
    'a full-text table beside a JSON list',
    'SELECT :ws FROM json_each(:ids) j, words w WHERE w.title = j.value',
  ],
  ['an INSERT into another workspace', 'INSERT INTO teams (workspace_id, id, name) VALUES (:other, :ws, :n)'],
  ['an INSERT of a made-up workspace', "INSERT INTO teams (workspace_id, id) VALUES (:ws || 'x', :id)"],
  ['an INSERT with the workspace elsewhere', 'INSERT INTO teams (id, workspace_id) VALUES (:ws, :other)'],
  ['an INSERT without columns', 'INSERT INTO teams VALUES (:ws, :id, :n)'],
  [
    'a second row for another workspace',
    'INSERT INTO teams (workspace_id, id, name) VALUES (:ws, :id, :n), (:other, :id, :n)',
  ],
  [
    'a second arm for another workspace',
    'INSERT INTO teams (workspace_id, id, name) SELECT :ws, :id, :n UNION ALL SELECT :other, :id, :n',
  ],
  [
    'a second arm of values for another workspace',
    'INSERT INTO teams (workspace_id, id, name) SELECT :ws, :id, :n UNION  ALL VALUES (:other, :id, :n)',
  ],
  [
    'a third arm for another workspace',
    'INSERT INTO teams (workspace_id, id, name) SELECT :ws, :id, :n UNION ALL SELECT :ws, :id, :n UNION SELECT :other, :id, :n',
  ],
  [
    'an INSERT behind a WITH',
    'INSERT INTO teams (workspace_id, id, name) WITH x AS (SELECT :other AS w) SELECT w, :ws, :n FROM x',
  ],
  ['REPLACE into another workspace', 'REPLACE INTO teams (workspace_id, id, name) VALUES (:other, :ws, :n)'],
  ['an UPDATE that moves rows', 'UPDATE issues SET workspace_id = :other WHERE workspace_id = :ws'],
  [
    'an UPDATE that moves rows in a row value',
    'UPDATE issues SET (workspace_id, title) = (:other, :t) WHERE workspace_id = :ws',
  ],
  ['an UPDATE of everything', 'UPDATE issues SET title = :ws'],
  ['a DELETE of everything', 'WITH x AS (SELECT :ws) DELETE FROM issues'],
])('%s is rejected', (_, sql) => {
  expect(breach(sql)).not.toBeNull();
});

const ownHits = `SELECT d.id FROM search_index CROSS JOIN search_documents AS d ON d.workspace_id = :ws AND d.doc = search_index.rowid
  WHERE search_index MATCH :match`;

const bestHits = `WITH ranked AS MATERIALIZED (
    SELECT doc, score FROM (
      SELECT search_index.rowid AS doc, bm25(search_index, 2.0) AS score FROM search_index
      WHERE search_index MATCH :match ORDER BY search_index.rowid DESC LIMIT 9)
    ORDER BY score, doc DESC LIMIT :limit)
  SELECT d.id AS hit, nullif(d.id, d.doc) AS other
  FROM ranked CROSS JOIN search_documents AS d ON d.workspace_id = :ws AND d.doc = ranked.doc
  ORDER BY ranked.score, ranked.doc DESC`;

const removalOfIssues = `DELETE FROM search_index WHERE rowid IN (SELECT d.doc FROM json_each(:issues) AS t
   CROSS JOIN search_documents AS d ON d.workspace_id = :ws AND d.issue_id = t.value)`;
const removal = removalOfIssues.replace('t.value', 't.value->>0 AND d.id = t.value->>1');

test.each([
  ['hits', ownHits],
  ['the best of all hits', bestHits],
  ['hits in their order', `${ownHits} AND d.id > :after ORDER BY bm25(search_index, 2.0) LIMIT :limit`],
  [
    'hits with further conditions',
    `WITH hits AS MATERIALIZED (${ownHits}) SELECT title FROM hits CROSS JOIN issues ON workspace_id = :ws AND issues.id = hits.id`,
  ],
  ['the removal of documents', removal],
  ['the removal of all documents of issues', removalOfIssues],
])('the full-text index accepts %s', (_, sql) => {
  expect(breach(sql)).toBeNull();
});

test.each([
  ['a search of all', 'SELECT rowid FROM search_index WHERE search_index MATCH :ws'],
  ['a table-valued call', "SELECT i.id FROM search_index('a') JOIN issues i ON i.workspace_id = :ws"],
  ['a join that leaves out the row', ownHits.replace('d.doc = search_index.rowid', 'd.doc > 0')],
  ['a left join', ownHits.replace('CROSS JOIN', 'LEFT JOIN')],
  ['a join widened by OR', ownHits.replace('WHERE', 'OR 1 WHERE')],
  ['another workspace', ownHits.replace(':ws', ':other')],
  [
    'a second, free read',
    `${ownHits} AND EXISTS (SELECT 1 FROM search_index AS s WHERE s.title MATCH :match)`,
  ],
  [
    'a union arm beside the hits',
    `${ownHits} UNION ALL SELECT rowid FROM search_index WHERE search_index MATCH :match`,
  ],
  ['a quoted name', ownHits.replace('FROM search_index', 'FROM "search_index"')],
  [
    'its own tables',
    'SELECT d.id FROM search_documents d JOIN search_index_docsize s WHERE d.workspace_id = :ws',
  ],
  ['the best without their join', bestHits.replace('d.doc = ranked.doc', 'd.doc > 0')],
  ['the best of another workspace', bestHits.replace(':ws', ':other')],
  ['the best by a left join', bestHits.replace('CROSS JOIN', 'LEFT JOIN')],
  ['the best by a join widened by OR', bestHits.replace('ranked.doc\n', 'ranked.doc OR 1\n')],
  [
    'the best hits and a union arm after them',
    bestHits.replace(/ORDER BY ranked.*/s, 'UNION ALL SELECT doc, score FROM ranked'),
  ],
  [
    'the best hits and a union arm before them',
    bestHits.replace('SELECT d.id', 'SELECT doc, score FROM ranked UNION ALL SELECT d.id'),
  ],
  [
    'the best hits and a read of the others',
    bestHits.replace('d.id AS hit', '(SELECT group_concat(doc) FROM ranked) AS hit'),
  ],
  ['the removal of any document', 'DELETE FROM search_index WHERE rowid = :doc AND :ws = :ws'],
  ['the removal of more documents', `${removal} OR rowid > 0`],
  ['the removal of documents of another workspace', removal.replace(':ws', ':other')],
  ['a removal widened by OR', removal.replace('t.value->>1', 't.value->>1 OR 1')],
  ['a removal by a left join', removalOfIssues.replace('CROSS JOIN', 'LEFT JOIN')],
])('the full-text index rejects %s', (_, sql) => {
  expect(breach(sql)).not.toBeNull();
});
