// Objects that belong to one team or to the whole workspace, such as labels and templates: their lists, and
// their names in the bodies of requests. Issues of a team can use both.
import { Type } from 'typebox';
import type { ReferenceTarget } from '../../kernel/contract/field.ts';
import type { Context } from '../../kernel/context.ts';
import { entriesOf } from '../../kernel/resource/directory.ts';
import { idOfName, type Among, type Naming } from '../../kernel/resource/names/names.ts';
import { getTeam } from '../../kernel/resource/names/teams.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import type { Condition } from '../../platform/store/page.ts';
import { teamParameter } from './contract.ts';

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

/**
 * Scope of names: objects of the team first, then those of the workspace.
 * @param teamId null for objects of the workspace only
 */
export function namedInTeam(teamId: string | null): Among {
  return {
    has: (entry) => entry.teamId === null || entry.teamId === teamId,
    words: teamId === null ? ' for all teams' : ' for this team',
    rank: (entry) => (entry.teamId === null ? 1 : 0),
    isOpen: true,
  };
}

/**
 * Returns the ids of the objects that a list in a request names, each once.
 * @param to contract of the objects, which must be in the directory
 * @param fix instruction for a name or id that no object has
 * @throws ApiError validation_failed
 */
export function idsInTeam(
  ctx: Naming,
  to: ReferenceTarget,
  teamId: string | null,
  { names, path, fix }: { readonly names: readonly string[]; readonly path: string; readonly fix?: string },
): string[] {
  const among = namedInTeam(teamId);
  const entries = entriesOf(ctx.directory, to);
  const ids = names.map((name, index) => {
    const id = idOfName(ctx, to, name, `${path}.${index}`, among);
    const entry = entries.get(id);
    if (entry && among.has(entry)) return id;
    throw invalidField(`${path}.${index}`, 'not_found', {
      why: `There is no ${to.name} ${name}${among.words}.`,
      ...(fix !== undefined && { fix }),
    });
  });
  return [...new Set(ids)];
}
