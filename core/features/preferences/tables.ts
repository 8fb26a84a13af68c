// Tables of preferences and favorites.
import { defineTable } from '../../kernel/table/define.ts';
import { flag, id, oneOf } from '../../kernel/table/formats.ts';
import { board } from '../boards/contract.ts';
import { cycle } from '../cycles/contract.ts';
import { issue } from '../issues/contract.ts';
import { project } from '../projects/contract.ts';
import { release } from '../releases/contract.ts';
import { view } from '../views/contract.ts';
import { densities, favorite, startPages, themes } from './contract.ts';

export const favoriteTable = defineTable('favorites', {
  contract: favorite,
  owner: { members: 'member_id' },
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: {
    formats: { target_id: id(issue.id, view.id, board.id, project.id, cycle.id, release.id) },
  },
  log: 'own',
  quotes: { none: 'ids' },
});

export const memberPreferenceTable = defineTable('member_preferences', {
  owner: { members: 'id' },
  retention: { bound: 'one for each member' },
  exported: {
    formats: {
      theme: oneOf(...themes),
      density: oneOf(...densities),
      single_key_shortcuts: flag,
      start_page: oneOf(...startPages),
    },
  },
  log: { local: 'settings of a member' },
  quotes: { none: 'settings' },
});
