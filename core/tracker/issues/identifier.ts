// What the identifier of an issue says before the issue is looked for: its team.
import type { Context } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { findTeam } from '../directory.ts';

/** An issue of a team that is not there cannot be either. @throws ApiError validation_failed (not_found) */
export function requireTeamOf({ directory, visibleTeams }: Context, identifier: string, path: string): void {
  const [key = ''] = identifier.split('-');
  const team = findTeam(directory, key);
  if (!team || (visibleTeams !== null && !visibleTeams.has(team.id)))
    throw invalidField(path, 'not_found', {
      why: `No issue is called ${identifier}: its team is not there.`,
    });
}
