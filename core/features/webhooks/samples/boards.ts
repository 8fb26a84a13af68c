// Sample data of boards and views.
import type { EntityResponse } from '../../../kernel/contract/contract.ts';
import type { board } from '../../boards/contract.ts';
import type { view } from '../../views/contract.ts';
import { ana, idOf } from './fixtures.ts';

const crashes = { label: 'crash' };

export const boardObjects = {
  board: {
    id: idOf('brd'),
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
  view: {
    id: idOf('viw'),
    name: 'Crashes',
    description: 'Crashes that lose work.',
    filter: crashes,
    sort: '-priority',
    layout: 'list',
    groupBy: null,
    visibility: 'shared',
    owner: { kind: 'user', ...ana },
  } satisfies Partial<EntityResponse<typeof view>>,
  'board.card_moved': {
    board: { id: idOf('brd'), name: 'Editor' },
    issue: { id: idOf('iss') },
    column: 'In Progress',
    lane: null,
    rank: 'hUTkXP3cF',
  },
};

export const boardMoments = (before: string, now: string) => ({
  'board.updated': { now: { limits: 'hard' }, previous: { limits: 'soft' } },
  'board.deleted': { now: { deletedAt: now }, previous: { deletedAt: null } },
  'board.restored': { previous: { deletedAt: before } },
  'view.updated': { previous: { sort: null } },
  'view.deleted': { now: { deletedAt: now }, previous: { deletedAt: null } },
  'view.restored': { previous: { deletedAt: before } },
});
