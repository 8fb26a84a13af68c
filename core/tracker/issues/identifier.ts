import type { Context } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { findTeam } from '../directory.ts';

/**
 * Rejects an identifier whose team does not exist or is hidden.
 * @throws ApiError validation_failed (not_found)
 */
export function requireTeamOf({ directory, visibleTeams }: Context, identifier: string, path: string): void {
  const [key = ''] = identifier.split('-');
  const team = findTeam(directory, key);
  if (!team || (visibleTeams !== null && !visibleTeams.has(team.id)))
    throw invalidField(path, 'not_found', {
      why: `There is no issue ${identifier}, because the team does not exist.`,
      fix: 'Use the identifier of an existing issue.',
    });
}
