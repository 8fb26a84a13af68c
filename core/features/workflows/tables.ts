// Table of workflow states.
import { defineTable } from '../../kernel/table/define.ts';
import { state } from './contract.ts';

export const stateTable = defineTable('states', {
  contract: state,
  owner: { teams: 'team_id' },
  retention: { forever: 'people create them one by one, and issues, keys and history refer to them' },
  exported: {},
  log: 'own',
  quotes: { none: 'people write its texts' },
});
