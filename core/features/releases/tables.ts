// Tables of releases.
import { defineTable } from '../../kernel/table/define.ts';
import { release } from './contract.ts';

export const releaseTable = defineTable('releases', {
  contract: release,
  owner: 'workspace',
  retains: { pipelines: 'pipeline_id' },
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: {},
  quotes: { none: 'people write its texts' },
});

export const releaseIssueTable = defineTable('release_issues', {
  owner: { releases: 'release_id', issues: 'issue_id' },
  retention: { withOwner: true },
  exported: {},
  quotes: { none: 'ids and times' },
});
