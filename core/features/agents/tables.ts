// Table of the issues that agents created.
import { defineTable } from '../../kernel/table/define.ts';

export const agentIssueTable = defineTable('agent_issues', {
  owner: { issues: 'issue_id' },
  retention: { withOwner: true },
  exported: { not: 'agents are authorized again on the new server' },
  log: { local: 'rights of an agent' },
  quotes: { none: 'ids' },
});
