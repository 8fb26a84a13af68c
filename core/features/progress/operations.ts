// Progress of a project, as visible issues counted by state type, in total and per milestone; scope and
// progress of a cycle, day by day. The counts are computed on request, off the event loop, by reading every
// issue; nothing is stored, so no counter can drift.
import { Type, type Static } from 'typebox';
import { getEntity } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import {
  Closed,
  idOf,
  namedSchema,
  date,
  described,
  enumeration,
  nullable,
} from '../../platform/lib/schema.ts';
import { tenantStatement, composedStatement } from '../../platform/store/statement.ts';
import { cycle } from '../cycles/contract.ts';
import { cycleModel } from '../cycles/index.ts';
import { countedByDay, dayByDay, daysOf } from './day-by-day.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { dayMs, isDay } from '../../platform/lib/time/time.ts';
import { withIssueVisibility } from '../issues/index.ts';
import { milestone } from '../milestones/contract.ts';
import type { StateType } from '../workflows/contract.ts';
import { projectModel } from '../projects/index.ts';
import type { RowOf } from '../../kernel/table/define.ts';
import { tableOf } from '../tables.ts';

export const CycleProgress = namedSchema(
  'CycleProgress',
  Closed({
    id: idOf(cycle.id),
    timeZone: Type.String({ description: 'Time zone of the team, in which days begin and end.' }),
    days: dayByDay('Days from the start of the cycle to its completion, or to today.'),
  }),
);

const idsIn = tableOf.cycle_issues.select('of_cycle', ['id'], ['cycle_id']);
const completion = tenantStatement<{ sequence: number }>(
  'events.cycle_completed',
  `SELECT sequence FROM events INDEXED BY events_issue
   WHERE workspace_id = :ws AND issue_id = :cycleId AND type = 'cycle.completed' ORDER BY sequence DESC LIMIT 1`,
);

/** A completed cycle is counted as it was before its unfinished issues rolled over: docs/decisions/0046. */
export async function progressOfCycle(ctx: Context, id: string): Promise<Static<typeof CycleProgress>> {
  const current = await getEntity(ctx, cycleModel, id);
  const { store, scope, directory } = ctx;
  const timeZone = directory.teams.get(current.teamId)?.timeZone ?? 'UTC';
  if (current.startedAt === null) return { id: current.id, timeZone, days: [] };
  const ended =
    current.completedAt === null
      ? undefined
      : await store.readOne(scope, completion, { cycleId: current.id });
  const days = await countedByDay(ctx, {
    ids: (await idsIn.all(store, scope, { cycle_id: current.id })).map(({ id }) => id),
    days: daysOf(timeZone, current.startedAt, current.completedAt ?? ctx.nowMs()),
    ...(ended && { before: ended.sequence }),
    isIn: ({ cycle }) => cycle?.id === current.id,
  });
  return { id: current.id, timeZone, days };
}

const count = (description: string) => Type.Integer({ minimum: 0, description });
const Counts = namedSchema(
  'Progress',
  Closed({
    issues: count('Number of all issues.'),
    unstarted: count('Issues in triage, backlog or unstarted states.'),
    started: count('Issues in started states.'),
    completed: count('Issues in completed states.'),
    canceled: count('Issues in canceled and duplicate states.'),
    estimate: Type.Number({ description: 'Sum of the estimates of issues that are not canceled.' }),
    estimateCompleted: Type.Number({ description: 'Sum of the estimates of completed issues.' }),
  }),
);
type Counts = { -readonly [K in keyof Static<typeof Counts>]: number };

const statuses = ['unstarted', 'next', 'overdue', 'done'] as const;
const MilestoneProgress = namedSchema(
  'MilestoneProgress',
  Closed({
    id: idOf(milestone.id),
    name: Type.String({ description: 'Name of the milestone.' }),
    targetDate: nullable({ ...date, description: 'Target date of the milestone.' }),
    status: enumeration(
      'MilestoneStatus',
      statuses,
      'Status of the milestone: `done` when its issues are; `overdue` after its target date; `next` for the first that is neither; otherwise `unstarted`.',
    ),
    progress: described(Counts, 'Progress of the milestone.'),
  }),
);
export const ProjectProgress = namedSchema(
  'ProjectProgress',
  Closed({
    progress: described(Counts, 'Progress of the whole project.'),
    milestones: Type.Array(MilestoneProgress, { description: 'Progress of each milestone, in order.' }),
    days: nullable(
      dayByDay(
        'One entry per day from `since` to today, in UTC, with the issues as they were at its end; null without `since`.',
      ),
    ),
  }),
);

interface CountRow {
  readonly milestone_id: string | null;
  readonly type: StateType;
  readonly issues: number;
  readonly estimate: number;
}
const counting = (seen: string) =>
  composedStatement<CountRow & Readonly<Record<string, never>>>(
    `SELECT i.milestone_id AS milestone_id, s.type AS type, count(*) AS issues, coalesce(sum(i.estimate), 0) AS estimate
   FROM issues AS i INDEXED BY issues_project
   CROSS JOIN states AS s ON s.workspace_id = :ws AND s.id = i.state_id
   WHERE i.workspace_id = :ws AND i.project_id = :projectId AND i.project_id IS NOT NULL AND i.deleted_at IS NULL${seen}
   GROUP BY i.milestone_id, s.type`,
    null,
  );
const countAll = counting('');
const countSeen = counting(' AND i.team_id IN (SELECT value FROM json_each(:teams))');

const milestonesOf = tableOf.milestones.select(
  'of_project',
  ['id', 'name', 'target_date', 'completed_at'],
  ['project_id'],
  'AND deleted_at IS NULL ORDER BY position, id',
);

/**
 * @param since first day of the daily counts; default: no daily counts
 * @throws ApiError not_found, validation_failed, budget_exceeded
 */
export async function progressOfProject(
  ctx: Context,
  id: string,
  since: string | undefined,
): Promise<Static<typeof ProjectProgress>> {
  const { id: projectId } = await getEntity(ctx, projectModel, id);
  const { store, scope } = ctx;
  const milestones = await milestonesOf.all(store, scope, { project_id: projectId });
  const { visibleTeams } = withIssueVisibility(ctx);
  const rows: readonly CountRow[] =
    visibleTeams === null
      ? await store.read(scope, countAll, { projectId })
      : await store.read(scope, countSeen, { projectId, teams: JSON.stringify([...visibleTeams]) });
  const statusOf = statusesOn(new Date(ctx.nowMs()).toISOString().slice(0, 10));
  return {
    progress: summed(rows),
    milestones: milestones.map((row) => ({
      id: row.id,
      name: row.name,
      targetDate: row.target_date,
      status: statusOf(row),
      progress: summed(rows.filter(({ milestone_id }) => milestone_id === row.id)),
    })),
    days: since === undefined ? null : await daysSince(ctx, projectId, since),
  };
}

/** @throws ApiError validation_failed, budget_exceeded */
async function daysSince(ctx: Context, projectId: string, since: string) {
  const [fromMs, nowMs] = [isDay(since) ? Date.parse(since) : Number.NaN, ctx.nowMs()];
  if (Number.isNaN(fromMs)) throw invalidField('since', 'invalid_format', 'Give a day as YYYY-MM-DD.');
  if (fromMs > nowMs) throw invalidField('since', 'too_big', 'Give a day that is not in the future.');
  if (nowMs - fromMs > daysMax * dayMs)
    throw invalidField('since', 'too_small', `Give a day within the last ${daysMax} days.`);
  const ids = (await everIn.all(ctx.store, ctx.scope, { project_id: projectId })).map(({ id }) => id);
  if (ids.length > everInMax)
    throw new ApiError(
      'budget_exceeded',
      `More than ${everInMax} issues were in the project. Leave out since to get the current progress only.`,
    );
  const days = daysOf('UTC', fromMs, nowMs);
  return countedByDay(ctx, { ids, days, isIn: ({ project }) => project?.id === projectId });
}

/** Maximum number of days in a response. */
const daysMax = 366;
/** Maximum number of issues of a project with daily counts. */
const everInMax = 10_000;
const everIn = tableOf.project_issues.select('of_project', ['id'], ['project_id'], `LIMIT ${everInMax + 1}`);

/**
 * Returns a function that computes the status of a milestone, and must be called for the milestones in order.
 */
function statusesOn(
  today: string,
): (
  milestone: Pick<RowOf<typeof tableOf.milestones>, 'target_date' | 'completed_at'>,
) => (typeof statuses)[number] {
  let hasNext = false;
  return ({ completed_at, target_date }) => {
    if (completed_at !== null) return 'done';
    if (target_date !== null && target_date < today) return 'overdue';
    if (hasNext) return 'unstarted';
    hasNext = true;
    return 'next';
  };
}

const countedAs: Readonly<Record<StateType, 'unstarted' | 'started' | 'completed' | 'canceled'>> = {
  triage: 'unstarted',
  backlog: 'unstarted',
  unstarted: 'unstarted',
  started: 'started',
  completed: 'completed',
  canceled: 'canceled',
  duplicate: 'canceled',
};

function summed(rows: readonly CountRow[]): Counts {
  const counts: Counts = {
    issues: 0,
    unstarted: 0,
    started: 0,
    completed: 0,
    canceled: 0,
    estimate: 0,
    estimateCompleted: 0,
  };
  for (const { type, issues, estimate } of rows) {
    const as = countedAs[type];
    counts.issues += issues;
    counts[as] += issues;
    if (as !== 'canceled') counts.estimate += estimate;
    if (as === 'completed') counts.estimateCompleted += estimate;
  }
  return counts;
}
