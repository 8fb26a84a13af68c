// Table of teams.
import { defineTable } from '../../kernel/table/define.ts';
import { integer } from '../../kernel/table/formats.ts';
import { team } from './contract.ts';

export const teamTable = defineTable('teams', {
  contract: team,
  owner: 'workspace',
  retention: { forever: 'people create them one by one, and issues, keys and history refer to them' },
  exported: { formats: { issue_count: integer() } },
  quotes: { none: 'people write its texts' },
  unlogged: { issue_count: 'changes with the issues of the team, without an event of its object' },
});
