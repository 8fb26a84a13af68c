// Tables of releases.
import { defineTable } from '../../kernel/table/define.ts';
import { release } from './contract.ts';

export const releaseTable = defineTable('releases', {
  contract: release,
  owner: 'workspace',
  retains: { pipelines: 'pipeline_id' },
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: {},
  log: 'own',
  quotes: { none: 'people write its texts' },
});

export const releaseIssueTable = defineTable('release_issues', {
  owner: { releases: 'release_id', issues: 'issue_id' },
  retention: { withOwner: true },
  exported: {},
  log: 'derived',
  derived: [
    {
      columns: ['release_id', 'issue_id'],
      what: 'entries of releases are not in the list of their release',
      sql: `FROM release_issues AS t WHERE NOT EXISTS (SELECT 1 FROM releases AS r, json_each(r.issue_ids_json) AS j
        WHERE r.workspace_id = t.workspace_id AND r.id = t.release_id AND j.value = t.issue_id)`,
    },
    {
      columns: ['release_id', 'issue_id'],
      what: 'issues of releases have no entry',
      sql: `FROM releases AS t, json_each(t.issue_ids_json) AS j WHERE t.deleted_at IS NULL
        AND EXISTS (SELECT 1 FROM issues AS i WHERE i.workspace_id = t.workspace_id AND i.id = j.value)
        AND NOT EXISTS (SELECT 1 FROM release_issues AS e WHERE e.workspace_id = t.workspace_id AND e.release_id = t.id AND e.issue_id = j.value)`,
    },
    {
      columns: ['created_at'],
      what: 'entries of releases have another creation time than their issue',
      sql: `FROM release_issues AS t JOIN issues AS i ON i.workspace_id = t.workspace_id AND i.id = t.issue_id
        WHERE i.created_at <> t.created_at`,
    },
  ],
  quotes: { none: 'ids and times' },
});
