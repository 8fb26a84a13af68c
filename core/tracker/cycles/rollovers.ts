// What is told of the issues that went on when their cycle was completed: which, and to which cycle.
import { Type, type Static } from 'typebox';
import { askedOf, cursorOf, type PageParameters } from '../../changes/list.ts';
import { isoTime } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { Closed, described, idOf, limitDefault, named, nullable, time } from '../../lib/schema.ts';
import { readPage, type Page } from '../../store/page.ts';
import { issue } from '../issues/contract.ts';
import { seeingIssues } from '../issues/seen.ts';
import { cycle } from './contract.ts';
import type { Cycle } from './kind.ts';

export const Rollover = named(
  'CycleRollover',
  Closed({
    issue: Closed(
      {
        id: idOf(issue.id),
        identifier: nullable(
          Type.String({ description: 'How people name it; null once it is of another team, or purged.' }),
        ),
      },
      { description: 'An issue that was unfinished.' },
    ),
    to: nullable(
      Closed(
        {
          id: idOf(cycle.id),
          number: Type.Integer({ description: 'Counts the cycles of the team.' }),
          name: Type.String({ description: 'What it is called.' }),
        },
        { description: 'The cycle that it went to; null where the team had none to come.' },
      ),
    ),
    at: described(time, 'When it went.'),
  }),
);

/** In the order in which they went; none where the caller does not see the issues of the team. */
export async function listRollovers(
  ctx: Context,
  { id, teamId }: Cycle,
  query: PageParameters,
): Promise<Page<Static<typeof Rollover>>> {
  const { visibleTeams } = seeingIssues(ctx);
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
    asked: { ...askedOf(query), id },
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
  const found = typeof id === 'string' ? directory.cycles.get(id) : undefined;
  return found ? { id: found.id, number: found.number, name: found.name } : null;
}
