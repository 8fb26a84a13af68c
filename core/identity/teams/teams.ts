// Makes and changes teams. A new team comes with its workflow states, so that it can take issues at once.
import type { Static } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { getEntity, updated } from '../../changes/operations.ts';
import { listKind, type PageParameters } from '../../changes/list.ts';
import type { Context } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { findState } from '../../tracker/directory.ts';
import { defaultStates, stateKind } from '../../tracker/workflows/schema.ts';
import { teamKind, type TeamCreate, type TeamUpdate } from './schema.ts';

export function listTeams(ctx: Context, page: PageParameters) {
  return listKind(ctx, teamKind, page);
}

export async function getTeam(ctx: Context, id: string) {
  return teamKind.wire(await getEntity(ctx, teamKind, id), ctx);
}

export async function createTeam(ctx: Context, input: Static<typeof TeamCreate>): Promise<ChangeSet> {
  for (const team of ctx.directory.teams.values())
    if (team.key === input.key)
      throw invalidField('key', 'already_exists', `The team ${input.key} exists already.`);
  const now = ctx.nowMs();
  const team = teamKind.create({
    id: ctx.ids.uuid(),
    key: input.key,
    name: input.name ?? input.key,
    transitions: null,
    createdAt: now,
    updatedAt: now,
  });
  const states = defaultStates(team.id, () => ctx.ids.next('state'), now).map((state) =>
    stateKind.create(state),
  );
  return {
    changes: [team, ...states],
    body: teamKind.wire(team.after, ctx),
    status: 201,
    location: `${ctx.baseUrl}/api/v1/teams/${team.id}`,
  };
}

export async function updateTeam(
  ctx: Context,
  id: string,
  patch: Static<typeof TeamUpdate>,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const team = await getEntity(ctx, teamKind, id);
  for (const [from, targets] of Object.entries(patch.transitions ?? {}))
    for (const state of [from, ...targets])
      if (!findState(ctx.directory, id, state))
        throw invalidField(`transitions.${from}`, 'not_found', `${state} is not a state of this team.`);
  return updated(ctx, teamKind, team, patch, ifMatch);
}
