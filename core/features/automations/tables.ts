// Table of automations.
import { defineTable } from '../../kernel/table/define.ts';
import { automation } from './contract.ts';

export const automationTable = defineTable('automations', {
  contract: automation,
  owner: 'workspace',
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: { not: 'members of the new server create them again, with their own rights' },
  log: 'own',
  quotes: { none: 'people write its texts' },
  unlogged: {
    due_json: 'internal state, which no request shows',
    backtest_json: 'changes with the backtest, without an event of its object',
    since_sequence: 'internal state, which no request shows',
    probation_left: 'changes with the runs, without an event of its object',
  },
});
