// Lookups of teams in the directory of a workspace.
import { invalidField, type Wrong } from '../../../platform/lib/errors/errors.ts';
import type { Directory } from '../../context.ts';

export type TeamEntry = Directory['teams'] extends ReadonlyMap<string, infer E> ? E : never;

/** @param name key of the team, case-insensitive, or its id */
export function findTeam({ teams }: Directory, name: string): TeamEntry | undefined {
  const byId = teams.get(name);
  if (byId) return byId;
  const wanted = name.toUpperCase();
  for (const team of teams.values()) if (team.key === wanted) return team;
  return undefined;
}

/**
 * Returns the error text for an unknown team. The text does not list teams, since the caller may not see all
 * of them.
 * @param input key or id
 */
export function noTeam(input: string): Wrong {
  return { why: `There is no team ${input}.`, fix: 'Use a team that GET /api/v1/teams lists.' };
}

/** Returns the team that a list is filtered by. @throws ApiError validation_failed (not_found) */
export function getTeam(directory: Directory, name: string): TeamEntry {
  const team = findTeam(directory, name);
  if (!team) throw invalidField('team', 'not_found', noTeam(name));
  return team;
}
