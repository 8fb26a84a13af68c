// The state of a new issue that says none: triage, where its team looks at such issues first, else its backlog.
import type { Context } from '../../context.ts';
import { firstState, statesOf, type StateEntry } from '../directory.ts';

export function entryState(ctx: Context, teamId: string): StateEntry {
  const { triage } = ctx.directory.teams.get(teamId) ?? {};
  const isTriaged = triage === 'all' || (triage === 'outside' && isFromOutside(ctx));
  const state = isTriaged && statesOf(ctx.directory, teamId).find(({ type }) => type === 'triage');
  return state || firstState(ctx.directory, teamId);
}

/** From nobody who works here: a plugin, the service itself, a guest. */
function isFromOutside({ actor, directory }: Context): boolean {
  return actor.memberId == null || directory.members.get(actor.memberId)?.role === 'guest';
}
