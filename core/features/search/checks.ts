import { warning, type Check, type Finding } from '../../kernel/checks.ts';

const waits = (of: string): string =>
  `EXISTS (SELECT 1 FROM search_pending AS p WHERE p.workspace_id = ${of}.workspace_id AND p.id = ${of}.id)`;
const has = (of: string): string =>
  `EXISTS (SELECT 1 FROM search_documents AS d WHERE d.workspace_id = ${of}.workspace_id AND d.id = ${of}.id)`;
const issueOf = (of: string): string =>
  `EXISTS (SELECT 1 FROM issues AS i WHERE i.workspace_id = ${of}.workspace_id AND i.id = ${of}.issue_id AND i.deleted_at IS NULL`;

/** Ignores changed texts that wait to be indexed. The index does not contain the texts themselves, so they are not compared. */
const disagreeing: readonly { readonly what: string; readonly sql: string }[] = [
  {
    what: 'issues are missing from the search index',
    sql: `FROM issues AS t WHERE t.deleted_at IS NULL AND NOT ${has('t')} AND NOT ${waits('t')}`,
  },
  {
    what: 'comments are missing from the search index',
    sql: `FROM comments AS t WHERE t.deleted_at IS NULL AND ${issueOf('t')}) AND NOT ${has('t')} AND NOT ${waits('t')}`,
  },
  {
    what: 'index entries belong to deleted texts or to another team',
    sql: `FROM search_documents AS t WHERE NOT ${waits('t')} AND NOT (${issueOf('t')} AND i.team_id = t.team_id) AND (t.id = t.issue_id
      OR EXISTS (SELECT 1 FROM comments AS c WHERE c.workspace_id = t.workspace_id AND c.id = t.id AND c.deleted_at IS NULL)))`,
  },
  {
    what: 'index entries have no words',
    sql: 'FROM search_documents AS t WHERE NOT EXISTS (SELECT 1 FROM search_index_docsize AS s WHERE s.id = t.doc)',
  },
  {
    what: 'word lists have no index entry',
    sql: 'FROM search_index_docsize AS t WHERE t.id NOT IN (SELECT doc FROM search_documents)',
  },
];

export const searchCheck: Check = {
  name: 'search',
  holds: 'the search index matches the issues and comments',
  readsDatabase: true,
  look({ rows }) {
    return disagreeing.flatMap(({ what, sql }): Finding[] => {
      const [mismatch] = rows<{ count: number }>(`SELECT count(*) AS count ${sql}`);
      return mismatch && mismatch.count > 0 ? [warning(`${mismatch.count} ${what}.`, 'search')] : [];
    });
  },
};
