// Issues by their identifiers, `ENG-12`.
import type { Context } from '../../context.ts';
import { tenantStatement } from '../../store/statement.ts';
import { findTeam } from '../directory.ts';

const byNumber = tenantStatement<{ id: string }>(
  'issues.by_number',
  'SELECT id FROM issues WHERE workspace_id = :ws AND team_id = :teamId AND number = :number AND deleted_at IS NULL',
);

/** @returns undefined for what the caller does not see as well */
export async function findIssueId(ctx: Context, identifier: string): Promise<string | undefined> {
  const [key = '', number = ''] = identifier.split('-');
  const team = findTeam(ctx.directory, key);
  if (!team || ctx.visibleTeams?.has(team.id) === false) return undefined;
  const row = await ctx.store.readOne(ctx.scope, byNumber, { teamId: team.id, number: Number(number) });
  return row?.id;
}
