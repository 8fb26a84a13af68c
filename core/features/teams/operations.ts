// Teams. A new team gets default workflow states, so that it can take issues immediately.
import { created } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { checkZone } from '../../platform/lib/time/time.ts';
import { archiving, archivedQuery, whereArchived } from '../../kernel/resource/archived.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { findTeam } from '../../kernel/resource/names/teams.ts';
import { findState, stateByName, defaultStates } from '../workflows/index.ts';
import { state } from '../workflows/contract.ts';
import { team } from './contract.ts';
import { teamModel } from './model.ts';

export const resource = defineResource(team, teamModel, {
  query: archivedQuery,
  where: (_ctx, query) => whereArchived(query),
  routes: [
    archiving(team, teamModel, 'archive', {
      summary: 'Archive a team, which refuses new issues and is hidden from lists',
      description:
        'Existing issues stay and can be changed, and the key stays reserved. Cycles, SLA clocks and snoozed issues are suspended until the team is unarchived.',
    }),
    archiving(team, teamModel, 'unarchive', {
      summary: 'Unarchive a team',
      description:
        'Cycles, SLA clocks and snoozed issues that came due in the meantime continue immediately.',
    }),
  ],
  check({ directory }, { id, key, transitions, timeZone }, before) {
    const noZone = checkZone(timeZone);
    if (noZone !== null) throw invalidField('timeZone', 'not_found', { why: noZone });
    // Stored transitions may name states that were deleted since.
    if (before && transitions === before.transitions) return;
    for (const [from, targets] of Object.entries(transitions ?? {}))
      for (const [at, to] of [from, ...targets].entries())
        if (!findState(directory, id, to))
          throw invalidField(`transitions.${from}${at === 0 ? '' : `.${at - 1}`}`, 'not_found', {
            why: `${to} is not a state of this team.`,
            fix: `Use a state that GET /api/v1/workflows?team=${key} lists.`,
          });
  },
  follows: (ctx, { transitions }, { id }) =>
    transitions ? { transitions: resolveTransitions(ctx, id, transitions) } : {},
  operations: {
    async create(ctx, { key, name = key, triage = 'off', timeZone = 'UTC' }) {
      const noZone = checkZone(timeZone);
      if (noZone !== null) throw invalidField('timeZone', 'not_found', { why: noZone });
      if (findTeam(ctx.directory, key))
        throw invalidField('key', 'already_exists', {
          why: `A team with the key ${key} already exists.`,
          fix: 'Use another key.',
        });
      const now = ctx.nowMs();
      const id = ctx.ids.next(team.id);
      const entity = {
        id,
        key,
        name,
        transitions: null,
        triage,
        timeZone,
        cycles: null,
        archivedAt: null,
        createdAt: now,
        updatedAt: now,
      };
      const set = created(ctx, teamModel, entity, team.path);
      return { ...set, changes: [...set.changes, ...defaultStates(id, () => ctx.ids.next(state.id), now)] };
    },
  },
});

type Transitions = Readonly<Record<string, readonly string[]>>;

/** Replaces names of states by ids. @throws ApiError validation_failed */
function resolveTransitions(ctx: Context, teamId: string, input: Transitions): Record<string, string[]> {
  const { resolved, ...quiet } = ctx;
  const byStateId: Record<string, string[]> = {};
  for (const [from, targets] of Object.entries(input)) {
    const path = `transitions.${from}`;
    const id = stateByName(quiet, teamId, from, path);
    if (byStateId[id])
      throw invalidField(path, 'conflict', {
        why: 'Another entry is for the same state.',
        fix: 'List each state once.',
      });
    byStateId[id] = [
      ...new Set(targets.map((to, index) => stateByName(quiet, teamId, to, `${path}.${index}`))),
    ];
  }
  resolved?.('transitions', byStateId);
  return byStateId;
}
