// Workflow states. A state that has issues, or is the last backlog state of its team, cannot be deleted.
import { Type } from 'typebox';
import { getEntity, removed } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { foldName } from '../../platform/lib/text/words.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { lastPositionIn } from '../../kernel/resource/sort.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { findTeam, getTeam } from '../../kernel/resource/names/teams.ts';
import { statesOf } from './states.ts';
import { teamParameter } from '../teams/contract.ts';
import { positionMax, state, type StateType } from './contract.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { sampleState } from '../../kernel/samples.ts';

const stateModel = modelOf(state, { table: 'states' });

const issueIn = tenantStatement<{ id: string }>(
  'states.issue_in',
  'SELECT id FROM issues INDEXED BY issues_state WHERE workspace_id = :ws AND state_id = :stateId AND deleted_at IS NULL LIMIT 1',
);

const lastPosition = lastPositionIn({
  kind: state.name,
  table: stateModel.table,
  owner: 'teamId',
  max: positionMax,
});
const teamIdOf = ({ directory }: Context, team: string): string => findTeam(directory, team)?.id ?? '';

const resource = defineResource(state, stateModel, {
  query: { team: Type.Optional(teamParameter) },
  where: ({ directory }, { team }) =>
    team === undefined
      ? []
      : [{ sql: 'team_id = :teamId', params: { teamId: getTeam(directory, String(team)).id } }],
  sets: async (ctx, { team, position }) => ({
    position: position ?? (await lastPosition(ctx, teamIdOf(ctx, team))),
  }),
  placedIn: (ctx, { team, position }) => (position === undefined ? teamIdOf(ctx, team) : null),
  check({ directory }, { id, teamId, name }, before) {
    if (name === before?.name) return;
    for (const other of statesOf(directory, teamId))
      if (other.id !== id && foldName(other.name) === foldName(name))
        throw invalidField('name', 'already_exists', {
          why: `The team already has a state named ${other.name}.`,
          fix: 'Use another name.',
        });
  },
  operations: {
    async delete(ctx, id, ifMatch) {
      const current = await getEntity(ctx, stateModel, id);
      if (await ctx.store.readOne(ctx.scope, issueIn, { stateId: id }))
        throw new ApiError('conflict', 'This state has issues. Move them first.');
      const same = statesOf(ctx.directory, current.teamId).filter(({ type }) => type === current.type);
      if (current.type === 'backlog' && same.length === 1)
        throw new ApiError(
          'conflict',
          'This is the last backlog state of its team, where new issues go. Add another one first.',
        );
      return removed(ctx, stateModel, current, ifMatch);
    },
  },
});

/** Returns the states of a new team. New issues go to the first state of type backlog. */
export function defaultStates(teamId: string, nextId: () => string, now: number) {
  const names: readonly (readonly [string, StateType])[] = [
    ['Triage', 'triage'],
    ['Backlog', 'backlog'],
    ['Todo', 'unstarted'],
    ['In Progress', 'started'],
    ['Done', 'completed'],
    ['Canceled', 'canceled'],
    ['Duplicate', 'duplicate'],
  ];
  return names.map(([name, type], position) =>
    stateModel.create({
      id: nextId(),
      teamId,
      name,
      type,
      position,
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    }),
  );
}

export const workflows = defineFeature({
  name: 'workflows',
  resources: [resource],
  samples: () => ({
    objects: {
      state: { ...sampleState, position: 2, team: 'ENG' } satisfies Partial<EntityResponse<typeof state>>,
    },
    moments: {
      'workflow.state_updated': { previous: { name: 'Doing' } },
    },
  }),
});

export { isFinishedState, firstState, statesOf, findState, stateByName, type StateEntry } from './states.ts';
