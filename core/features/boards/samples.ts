// Sample data of boards.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { sampleId, timeAfter, type Samples } from '../../kernel/samples.ts';
import type { board } from './contract.ts';

export const boardSamples: Samples = ({ nowMs }) => ({
  objects: {
    board: {
      id: sampleId('brd'),
      name: 'Editor',
      description: 'Work on the editor.',
      team: 'ENG',
      filter: {},
      groupBy: 'state',
      columns: [{ value: 'Todo' }, { value: 'In Progress', limit: 3 }, { value: 'Done' }],
      swimlanes: null,
      sort: 'manual',
      limits: 'soft',
    } satisfies Partial<EntityResponse<typeof board>>,
    'board.card_moved': {
      board: { id: sampleId('brd'), name: 'Editor' },
      issue: { id: sampleId('iss') },
      column: 'In Progress',
      lane: null,
      rank: 'hUTkXP3cF',
    },
  },
  moments: {
    'board.updated': { now: { limits: 'hard' }, previous: { limits: 'soft' } },
    'board.deleted': { now: { deletedAt: timeAfter(nowMs, 0) }, previous: { deletedAt: null } },
    'board.restored': { previous: { deletedAt: timeAfter(nowMs, -2) } },
  },
});
