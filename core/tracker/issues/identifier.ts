// Issues by their identifiers, `ENG-12`.
import type { Context } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { tenantStatement } from '../../store/statement.ts';
import { findTeam } from '../directory.ts';

const byNumber = tenantStatement<{ id: string }>(
  'issues.by_number',
  'SELECT id FROM issues WHERE workspace_id = :ws AND team_id = :teamId AND number = :number AND deleted_at IS NULL',
);

/** @returns undefined for what the caller does not see as well */
export async function findIssueId(ctx: Context, identifier: string): Promise<string | undefined> {
  const { team, number } = placeOf(ctx, identifier);
  const row = team && (await ctx.store.readOne(ctx.scope, byNumber, { teamId: team.id, number }));
  return row?.id;
}

/** An issue of a team that is not there cannot be either. @throws ApiError validation_failed (not_found) */
export function requireTeamOf(ctx: Context, identifier: string, path: string): void {
  const { key, team } = placeOf(ctx, identifier);
  if (!team) throw invalidField(path, 'not_found', `There is no team ${key}.`);
}

function placeOf({ directory, visibleTeams }: Context, identifier: string) {
  const [key = '', number = ''] = identifier.split('-');
  const team = findTeam(directory, key);
  const isSeen = team && (visibleTeams === null || visibleTeams.has(team.id));
  return { key, number: Number(number), team: isSeen ? team : undefined };
}
