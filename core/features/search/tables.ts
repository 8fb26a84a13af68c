// Tables of the full-text index.
import { defineTable } from '../../kernel/table/define.ts';

/** Matches texts of issues with events that are not indexed yet. */
const waits = (of: string, issueId: string): string =>
  `EXISTS (SELECT 1 FROM events AS e WHERE e.workspace_id = ${of}.workspace_id AND e.issue_id = ${of}.${issueId}
     AND e.sequence > coalesce((SELECT c.sequence FROM cursors AS c
       WHERE c.workspace_id = ${of}.workspace_id AND c.consumer = 'projection search'), 0))`;
const has = (of: string, issueId: string): string =>
  `EXISTS (SELECT 1 FROM search_documents AS d
     WHERE d.workspace_id = ${of}.workspace_id AND d.issue_id = ${of}.${issueId} AND d.id = ${of}.id)`;
const issueOf = (of: string): string =>
  `EXISTS (SELECT 1 FROM issues AS i WHERE i.workspace_id = ${of}.workspace_id AND i.id = ${of}.issue_id AND i.deleted_at IS NULL`;

const exported = { not: 'the new server indexes the texts again' };

export const searchIndexTable = defineTable('search_index', {
  owner: 'server',
  retention: { bound: 'each is removed with its row of search_documents' },
  exported,
  log: 'derived',
  quotes: { elsewhere: 'an issue is removed from the index when it is deleted' },
});

export const searchDocumentTable = defineTable('search_documents', {
  owner: 'workspace',
  retention: { bound: 'each is removed when its issue or comment is deleted' },
  exported,
  log: 'derived',
  // Changed texts that wait to be indexed are ignored. The index does not contain the texts, so that they are not compared.
  derived: [
    {
      columns: [],
      what: 'issues are missing from the search index',
      sql: `FROM issues AS t WHERE t.deleted_at IS NULL AND NOT ${has('t', 'id')} AND NOT ${waits('t', 'id')}`,
      repairedBy: 'search',
    },
    {
      columns: [],
      what: 'comments are missing from the search index',
      sql: `FROM comments AS t WHERE t.deleted_at IS NULL AND ${issueOf('t')}) AND NOT ${has('t', 'issue_id')}
      AND NOT ${waits('t', 'issue_id')}`,
      repairedBy: 'search',
    },
    {
      columns: ['id', 'issue_id', 'team_id'],
      what: 'index entries belong to deleted texts or to another team',
      sql: `FROM search_documents AS t WHERE NOT ${waits('t', 'issue_id')} AND NOT (${issueOf('t')} AND i.team_id = t.team_id) AND (t.id = t.issue_id
      OR EXISTS (SELECT 1 FROM comments AS c WHERE c.workspace_id = t.workspace_id AND c.id = t.id AND c.deleted_at IS NULL)))`,
      repairedBy: 'search',
    },
    {
      columns: ['doc'],
      what: 'index entries have no words',
      sql: 'FROM search_documents AS t WHERE NOT EXISTS (SELECT 1 FROM search_index_docsize AS s WHERE s.id = t.doc)',
      repairedBy: 'search',
    },
    {
      columns: [],
      what: 'word lists have no index entry',
      sql: 'FROM search_index_docsize AS t WHERE t.id NOT IN (SELECT doc FROM search_documents)',
      repairedBy: 'search',
    },
  ],
  quotes: { none: 'ids and numbers' },
});
