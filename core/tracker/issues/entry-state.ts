// Chooses the state of a new issue without a given state: triage, if the team triages such issues, else its
// backlog.
import type { Context } from '../../context.ts';
import { firstState, statesOf, type StateEntry } from '../directory.ts';

export function entryState(ctx: Context, teamId: string): StateEntry {
  const { triage } = ctx.directory.teams.get(teamId) ?? {};
  const isTriaged = triage === 'all' || (triage === 'outside' && isFromOutside(ctx));
  const state = isTriaged && statesOf(ctx.directory, teamId).find(({ type }) => type === 'triage');
  return state || firstState(ctx.directory, teamId);
}

/** Returns true if the author is a plugin, the server itself or a guest. */
function isFromOutside({ actor, directory }: Context): boolean {
  return actor.memberId == null || directory.members.get(actor.memberId)?.role === 'guest';
}
