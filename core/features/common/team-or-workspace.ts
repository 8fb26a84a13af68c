// Lists of objects that belong to one team or to the whole workspace. The team filter returns all objects
// that issues of the team can use.
import { Type } from 'typebox';
import type { Context } from '../../kernel/context.ts';
import type { Condition } from '../../platform/store/page.ts';
import { getTeam } from './directory.ts';
import { teamParameter } from '../teams/contract.ts';

export const teamQuery = { team: Type.Optional(teamParameter) };

/** @throws ApiError for an unknown team */
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
