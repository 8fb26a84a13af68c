// Cycles. They are created by people or by the rhythm of a team, and started and completed at their times, or
// earlier by request.
import type { ChangeSet, NewEntity } from '../../kernel/changes/change.ts';
import { getEntity, removed, updated, isoTime } from '../../kernel/changes/operations.ts';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import type { Context } from '../../kernel/context.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import {
  Closed,
  idOf,
  pageOf,
  pageQuery,
  namedSchema,
  described,
  limitDefault,
  nullable,
  time,
} from '../../platform/lib/schema.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { findTeam } from '../../kernel/resource/names/teams.ts';
import { readingIssues, withIssueVisibility } from '../issues/index.ts';
import { requireTakesIssues } from '../teams/index.ts';
import { cycle } from './contract.ts';
import { completing, nameOfNumber, nextNumber, starting } from './course.ts';
import { cycleModel, type Cycle } from './model.ts';
import { Type, type Static } from 'typebox';
import { contentParameters, cursorOf, type PageParameters } from '../../kernel/changes/list.ts';
import { readPage, type Page } from '../../platform/store/page.ts';
import { issue } from '../issues/contract.ts';

/** Bounds the length of a progress response, which has one entry per day. */
const daysMax = 366;

const overlapping = tenantStatement<{ name: string }>(
  'cycles.overlapping',
  `SELECT name FROM cycles INDEXED BY cycles_team_start WHERE workspace_id = :ws AND team_id = :teamId AND deleted_at IS NULL
     AND starts_at < :endsAt AND ends_at > :startsAt AND id <> :id LIMIT 1`,
);
const openOfTeam = tenantStatement<{ id: string; name: string; status: string }>(
  'cycles.first_open',
  `SELECT id, name, status FROM cycles INDEXED BY cycles_open
   WHERE workspace_id = :ws AND team_id = :teamId AND settled_at IS NULL AND deleted_at IS NULL AND status <> 'completed'
   ORDER BY starts_at, id LIMIT 1`,
);
const issueIn = tenantStatement<{ id: string }>(
  'cycles.issue_in',
  'SELECT id FROM issues INDEXED BY issues_cycle WHERE workspace_id = :ws AND cycle_id = :id AND deleted_at IS NULL LIMIT 1',
);

const params = Closed({ id: idOf(cycle.id) });
const one = {
  rows: 'team',
  params,
} as const;
const transition = {
  ...one,
  method: 'POST',
  scope: 'cycles:write',
  limit: 'write',
  errors: ['conflict'],
  responses: { 200: schemasOf(cycle).response },
} as const;

const Rollover = namedSchema(
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
async function listRollovers(
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

export const resource = defineResource(cycle, cycleModel, {
  async sets(ctx, { team, name }) {
    const teamId = findTeam(ctx.directory, team)?.id ?? '';
    const number = await nextNumber(ctx, teamId);
    return { number, name: name || nameOfNumber(number) };
  },
  async check(ctx, after, before) {
    if (before) requireOpen(before, after);
    const { teamId, startsAt, endsAt, id } = after;
    const ofTeam = ctx.directory.teams.get(teamId);
    if (!before && ofTeam) requireTakesIssues(ofTeam, 'team');
    if (before?.startsAt === startsAt && before.endsAt === endsAt) return;
    requireSpan(after);
    const other = await ctx.store.readOne(ctx.scope, overlapping, { teamId, startsAt, endsAt, id });
    if (other)
      throw invalidField('startsAt', 'conflict', {
        why: `The cycle would overlap with ${other.name}.`,
        fix: 'Use times between the other cycles of the team.',
      });
  },
  operations: {
    async delete(ctx, id, ifMatch) {
      const current = await getEntity(ctx, cycleModel, id);
      if (current.status !== 'upcoming')
        throw new ApiError(
          'conflict',
          'Only an upcoming cycle can be deleted. Complete an active cycle instead.',
        );
      if (await ctx.store.readOne(ctx.scope, issueIn, { id }))
        throw new ApiError('conflict', 'This cycle has issues. Move them first.');
      return removed(ctx, cycleModel, current, ifMatch);
    },
  },
  routes: [
    defineRoute({
      ...transition,
      path: '/api/v1/cycles/{id}/start',
      name: 'cycles.start',
      summary: 'Start the next cycle of a team early',
      description: 'Moves `startsAt` to now. A cycle that is already active stays unchanged.',
      writes: ['status', 'startsAt', 'startedAt'],
      write: (ctx, { params, ifMatch }) => start(ctx, params.id, ifMatch),
    }),
    defineRoute({
      ...transition,
      path: '/api/v1/cycles/{id}/complete',
      name: 'cycles.complete',
      summary: 'Complete an active cycle early',
      description:
        'Moves `endsAt` to now, and unfinished issues to the next cycle of the team. A cycle that is already completed stays unchanged.',
      writes: ['status', 'endsAt', 'completedAt'],
      write: (ctx, { params, ifMatch }) => complete(ctx, params.id, ifMatch),
    }),
    defineRoute({
      ...one,
      method: 'GET',
      path: '/api/v1/cycles/{id}/rollovers',
      name: 'cycles.rollovers',
      summary: 'List the issues that rolled over when a cycle was completed',
      scope: 'cycles:read',
      also: readingIssues,
      limit: 'read',
      query: Closed(pageQuery),
      responses: { 200: pageOf(Rollover) },
      errors: ['invalid_cursor'],
      read: async (ctx, { params, query }) =>
        listRollovers(ctx, await getEntity(ctx, cycleModel, params.id), query),
    }),
  ],
});

/** Past start and end times are immutable. @throws ApiError validation_failed */
function requireOpen(before: Cycle, after: NewEntity<Cycle>): void {
  const isMoved = { startsAt: before.startsAt !== after.startsAt, endsAt: before.endsAt !== after.endsAt };
  const path =
    before.status !== 'upcoming' && isMoved.startsAt
      ? 'startsAt'
      : before.status === 'completed' && isMoved.endsAt
        ? 'endsAt'
        : null;
  if (path !== null)
    throw invalidField(path, 'conflict', {
      why: `This field cannot change, because the cycle is ${before.status}.`,
      fix: 'Leave the field out.',
    });
}

/** @throws ApiError validation_failed */
function requireSpan({ startsAt, endsAt, status }: NewEntity<Cycle>): void {
  if (status === 'completed') return;
  if (startsAt < 0) throw invalidField('startsAt', 'too_small', 'Give a time in 1970 or later.');
  if (endsAt <= startsAt)
    throw invalidField('endsAt', 'too_small', {
      why: 'The cycle would end before it starts.',
      fix: 'Give a later endsAt, or an earlier startsAt.',
    });
  if (endsAt - startsAt > daysMax * dayMs)
    throw invalidField('endsAt', 'too_big', `Give an end within ${daysMax} days of the start.`);
}

async function start(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const current = await getEntity(ctx, cycleModel, id);
  if (current.status === 'completed')
    throw new ApiError('conflict', 'The cycle is completed. Start an upcoming cycle instead.');
  if (current.status === 'active') return updated(ctx, cycleModel, current, {}, ifMatch);
  const first = await ctx.store.readOne(ctx.scope, openOfTeam, { teamId: current.teamId });
  if (first?.status === 'active')
    throw new ApiError('conflict', `${first.name} is active. Complete it first.`);
  if (first && first.id !== id)
    throw new ApiError('conflict', `${first.name} is earlier. Start or delete it first.`);
  return updated(ctx, cycleModel, current, starting(current, ctx.nowMs()), ifMatch);
}

async function complete(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const current = await getEntity(ctx, cycleModel, id);
  if (current.status === 'upcoming')
    throw new ApiError('conflict', 'The cycle has not started. Start it first, or delete it.');
  const patch = current.status === 'completed' ? {} : completing(current, ctx.nowMs());
  return updated(ctx, cycleModel, current, patch, ifMatch);
}
