// Teams. A new one comes with its workflow states, so that it can take issues at once.
import { created } from '../../changes/operations.ts';
import { invalidField } from '../../lib/errors.ts';
import { defineResource } from '../../resource/define.ts';
import { kindOf } from '../../resource/kind.ts';
import { findState, findTeam } from '../directory.ts';
import { state } from '../workflows/contract.ts';
import { defaultStates } from '../workflows/workflows.ts';
import { team } from './contract.ts';

export const teamKind = kindOf(team);

export const teams = defineResource(team, teamKind, {
  check({ directory }, { id, key, transitions }, before) {
    // A state that was deleted since may stand in what was allowed before.
    if (before && transitions === before.transitions) return;
    for (const [from, targets] of Object.entries(transitions ?? {}))
      for (const to of [from, ...targets])
        if (!findState(directory, id, to))
          throw invalidField(`transitions.${from}`, 'not_found', {
            why: `${to} is not a state of this team.`,
            fix: `Use ids of its states, as GET /api/v1/workflows?team=${key} lists them.`,
          });
  },
  operations: {
    async create(ctx, { key, name = key }) {
      if (findTeam(ctx.directory, key))
        throw invalidField('key', 'already_exists', {
          why: `The team ${key} exists already.`,
          fix: 'Give another key.',
        });
      const now = ctx.nowMs();
      const id = ctx.ids.next(team.id);
      const made = { id, key, name, transitions: null, createdAt: now, updatedAt: now };
      const set = created(ctx, teamKind, made, team.path);
      return { ...set, changes: [...set.changes, ...defaultStates(id, () => ctx.ids.next(state.id), now)] };
    },
  },
});
