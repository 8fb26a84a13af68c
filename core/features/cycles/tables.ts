// Tables of cycles.
import { cycle } from './contract.ts';
import { defineTable } from '../../kernel/table/define.ts';
import { id } from '../../kernel/table/formats.ts';
import { issue } from '../issues/contract.ts';

export const cycleTable = defineTable('cycles', {
  contract: cycle,
  owner: { teams: 'team_id' },
  retention: {
    forever: 'a team creates one every few weeks, and issues, numbers and progress refer to them',
  },
  exported: {},
  log: 'own',
  quotes: { none: 'people write its texts' },
  unlogged: { settled_at: 'internal state, which no request shows' },
});

export const cycleIssueTable = defineTable('cycle_issues', {
  owner: { cycles: 'cycle_id' },
  retention: {
    bound: 'one for each issue that was in a cycle; they select the events from which progress is computed',
  },
  exported: { formats: { id: id(issue.id), rolled_to: id(cycle.id) } },
  log: { local: 'index of the log' },
  quotes: { none: 'ids and times' },
});
