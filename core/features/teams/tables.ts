// Table of teams.
import { defineTable } from '../../kernel/table/define.ts';
import { integer } from '../../kernel/table/formats.ts';
import { team } from './contract.ts';

export const teamTable = defineTable('teams', {
  contract: team,
  owner: 'workspace',
  retention: { forever: 'people create them one by one, and issues, keys and history refer to them' },
  exported: { formats: { issue_count: integer() } },
  log: 'own',
  quotes: { none: 'people write its texts' },
  derived: [
    {
      columns: [],
      what: 'teams counted fewer issues than their numbers show',
      sql: `FROM teams AS t WHERE t.issue_count < max(
        (SELECT coalesce(max(i.number), 0) FROM issues AS i WHERE i.workspace_id = t.workspace_id AND i.team_id = t.id),
        (SELECT coalesce(max(f.number), 0) FROM former_identifiers AS f WHERE f.workspace_id = t.workspace_id AND f.team_id = t.id))`,
    },
  ],
  unlogged: { issue_count: 'changes with the issues of the team, without an event of its object' },
});
