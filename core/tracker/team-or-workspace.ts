// Lists of what belongs to one team or to the whole workspace: asked for a team, they hold what its issues can use.
import { Type } from 'typebox';
import type { Context } from '../context.ts';
import type { Condition } from '../store/page.ts';
import { getTeam } from './directory.ts';
import { teamAsked } from './teams/contract.ts';

export const teamQuery = { team: Type.Optional(teamAsked) };

/** @throws ApiError for a team that is not there */
export function usableInTeam(
  { directory }: Context,
  { team }: Readonly<Record<string, unknown>>,
): Condition[] {
  if (team === undefined) return [];
  return [
    {
      sql: '(team_id = :teamId OR team_id IS NULL)',
      params: { teamId: getTeam(directory, String(team)).id },
    },
  ];
}
