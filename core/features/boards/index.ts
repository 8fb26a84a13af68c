// Sample data of boards.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { sampleId, timeAfter, type Samples } from '../../kernel/samples.ts';
import { board } from './contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { boardModel } from './model.ts';
import { boardRules } from './operations.ts';
import { boardRoutes } from './routes.ts';
import { CardMoved } from './bodies.ts';

const boardSamples: Samples = ({ nowMs }) => ({
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

export const boards = defineFeature({
  name: 'boards',
  resources: [defineResource(board, boardModel, { ...boardRules, routes: boardRoutes })],
  events: { 'board.card_moved': CardMoved },
  samples: boardSamples,
});

export { boardModel } from './model.ts';
