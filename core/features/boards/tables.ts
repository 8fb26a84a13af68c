// Tables of boards.
import { board } from './contract.ts';
import { defineTable } from '../../kernel/table/define.ts';
import { rank } from '../../kernel/table/formats.ts';

export const boardTable = defineTable('boards', {
  contract: board,
  owner: 'workspace',
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: {},
  log: 'own',
  quotes: { none: 'people write its texts' },
});

export const boardCardTable = defineTable('board_cards', {
  owner: { boards: 'board_id', issues: 'issue_id' },
  retention: { withOwner: true },
  // Plugin runs that move many cards create ranks above the limit of other ranks.
  exported: { formats: { rank: rank(100) } },
  log: { local: 'ranks, of which events show those of moved cards' },
  quotes: { none: 'ids and ranks' },
});
