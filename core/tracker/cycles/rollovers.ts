import { Type, type Static } from 'typebox';
import { contentParameters, cursorOf, type PageParameters } from '../../changes/list.ts';
import { isoTime } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { Closed, described, idOf, limitDefault, namedSchema, nullable, time } from '../../lib/schema.ts';
import { readPage, type Page } from '../../store/page.ts';
import { issue } from '../issues/contract.ts';
import { withIssueVisibility } from '../issues/seen.ts';
import { cycle } from './contract.ts';
import type { Cycle } from './kind.ts';

export const Rollover = namedSchema(
  'CycleRollover',
  Closed({
    issue: Closed(
      {
        id: idOf(issue.id),
        identifier: nullable(
          Type.String({
            description: 'Identifier of the issue; null if the issue was moved to another team or purged.',
          }),
        ),
      },
      { description: 'Issue that was unfinished.' },
    ),
    to: nullable(
      Closed(
        {
          id: idOf(cycle.id),
          number: Type.Integer({ description: 'Number of the cycle within its team.' }),
          name: Type.String({ description: 'Name of the cycle.' }),
        },
        { description: 'Cycle that the issue moved to; null if the team had no next cycle.' },
      ),
    ),
    at: described(time, 'Time of the rollover.'),
  }),
);

/** Lists rollovers in order of time; none if the caller cannot see issues of the team. */
export async function listRollovers(
  ctx: Context,
  { id, teamId }: Cycle,
  query: PageParameters,
): Promise<Page<Static<typeof Rollover>>> {
  const { visibleTeams } = withIssueVisibility(ctx);
  if (visibleTeams !== null && !visibleTeams.has(teamId))
    return { data: [], pageInfo: { hasNextPage: false, endCursor: null } };
  const key = ctx.directory.teams.get(teamId)?.key ?? '';
  const { data, pageInfo } = await readPage(ctx.store, ctx.sealing, ctx.scope, {
    table: 'cycle_issues',
    select: `id, rolled_at, rolled_to, (SELECT i.number FROM issues AS i
      WHERE i.workspace_id = :ws AND i.id = cycle_issues.id AND i.team_id = :teamId) AS number`,
    where: [{ sql: 'cycle_id = :cycleId AND rolled_at IS NOT NULL', params: { cycleId: id, teamId } }],
    order: [{ sql: 'rolled_at', direction: 'asc' }],
    limit: query.limit ?? limitDefault,
    after: cursorOf(query),
    parameters: { ...contentParameters(query), id },
  });
  return {
    data: data.map((row) => ({
      issue: { id: String(row.id), identifier: row.number === null ? null : `${key}-${Number(row.number)}` },
      to: cycleOf(ctx, row.rolled_to),
      at: isoTime(Number(row.rolled_at)),
    })),
    pageInfo,
  };
}

function cycleOf({ directory }: Context, id: unknown): Static<typeof Rollover>['to'] {
  const entry = typeof id === 'string' ? directory.cycles.get(id) : undefined;
  return entry ? { id: entry.id, number: entry.number, name: entry.name } : null;
}
