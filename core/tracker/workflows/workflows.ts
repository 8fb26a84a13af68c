// Lists and changes a team's workflow states. A state that issues stand in cannot be deleted, nor a team's last backlog state.
import type { Static } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { created, getEntity, removed, updated } from '../../changes/operations.ts';
import { listKind, notDeleted, type PageParameters } from '../../changes/list.ts';
import type { Context } from '../../context.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { tenantStatement } from '../../store/statement.ts';
import { findTeam, statesOf } from '../directory.ts';
import { positionMax, stateKind, stateTypeOf, type StateCreate, type StateUpdate } from './schema.ts';

const issueIn = tenantStatement<{ id: string }>(
  'states.issue_in',
  'SELECT id FROM issues WHERE workspace_id = :ws AND state_id = :stateId AND deleted_at IS NULL LIMIT 1',
);

export async function listStates(ctx: Context, query: PageParameters & { team?: string }) {
  const where = [notDeleted];
  if (query.team !== undefined) {
    const team = findTeam(ctx.directory, query.team);
    if (!team) throw invalidField('team', 'not_found', `There is no team ${query.team}.`);
    where.push({ sql: 'team_id = :teamId', params: { teamId: team.id } });
  }
  return listKind(ctx, stateKind, query, {
    where,
    order: [
      { sql: 'team_id', direction: 'asc' },
      { sql: 'position', direction: 'asc' },
    ],
  });
}

export async function createState(ctx: Context, input: Static<typeof StateCreate>): Promise<ChangeSet> {
  const team = findTeam(ctx.directory, input.team);
  if (!team) throw invalidField('team', 'not_found', `There is no team ${input.team}.`);
  requireFreeName(ctx, team.id, input.name, null);
  const last = Math.max(-1, ...statesOf(ctx.directory, team.id).map((state) => state.position));
  const now = ctx.nowMs();
  return created(
    ctx,
    stateKind,
    {
      id: ctx.ids.next('state'),
      teamId: team.id,
      name: input.name,
      type: stateTypeOf(input.type),
      position: input.position ?? Math.min(last + 1, positionMax),
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    },
    'workflows',
  );
}

export async function updateState(
  ctx: Context,
  id: string,
  patch: Static<typeof StateUpdate>,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const state = await getEntity(ctx, stateKind, id);
  if (patch.name !== undefined) requireFreeName(ctx, state.teamId, patch.name, id);
  return updated(ctx, stateKind, state, patch, ifMatch);
}

export async function deleteState(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const state = await getEntity(ctx, stateKind, id);
  if (await ctx.store.readOne(ctx.scope, issueIn, { stateId: id }))
    throw new ApiError('conflict', 'Issues stand in this state. Move them first.');
  const same = statesOf(ctx.directory, state.teamId).filter((other) => other.type === state.type);
  if (state.type === 'backlog' && same.length === 1)
    throw new ApiError('conflict', 'This is the last backlog state of its team, where new issues go.');
  return removed(ctx, stateKind, state, ifMatch);
}

function requireFreeName(ctx: Context, teamId: string, name: string, id: string | null): void {
  for (const state of statesOf(ctx.directory, teamId))
    if (state.id !== id && state.name.toLowerCase() === name.toLowerCase())
      throw invalidField('name', 'already_exists', `The team has a state ${state.name} already.`);
}
