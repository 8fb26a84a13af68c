// Counts issues at the end of each day from the event log, for the burn-up charts of cycles and projects. An
// issue counts for a day if its last event of that day is in scope and in a team that the caller can see.
import { Type, type Static } from 'typebox';
import type { Context } from '../../kernel/context.ts';
import { eventsAt } from '../../kernel/events/log/log.ts';
import { Closed } from '../../platform/lib/schema.ts';
import { utcToWall, wallToUtc } from '../../platform/lib/time/time.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { type IssueResponse, withIssueVisibility } from '../issues/index.ts';
import type { StateType } from '../workflows/contract.ts';

const countsOf = (what: string) =>
  Closed(
    {
      scope: Type.Number({ description: 'All issues in scope, including canceled ones.' }),
      started: Type.Number({ description: 'Started issues.' }),
      completed: Type.Number({ description: 'Completed issues.' }),
      canceled: Type.Number({ description: 'Canceled and duplicate issues.' }),
    },
    { description: what },
  );

/** @param described description of the days covered */
export const dayByDay = (described: string) =>
  Type.Array(
    Closed({
      day: Type.String({ format: 'date', description: 'Calendar day.' }),
      issues: countsOf('Number of issues.'),
      points: countsOf('Sum of estimates; an issue without an estimate counts as 0.'),
    }),
    { description: described },
  );
type Day = Static<ReturnType<typeof dayByDay>>[number];

/** Number of issues whose events one query reads. */
const issuesAtOnce = 200;
const eventsAtOnce = 500;

interface IssueEventRow {
  readonly issue_id: string;
  readonly sequence: number;
  readonly created_at: number;
}
const eventsOfIssues = tenantStatement<IssueEventRow>(
  'events.of_issues',
  `SELECT issue_id, sequence, created_at FROM events INDEXED BY events_issue
   WHERE workspace_id = :ws AND issue_id IN (SELECT value FROM json_each(:ids)) AND entity_type = 'issue' AND sequence < :before
   ORDER BY sequence`,
);

/** Fields read from an event of an issue. Old events have neither cycle nor project. */
type EventIssue = Pick<IssueResponse, 'state' | 'estimate' | 'deletedAt' | 'team'> &
  Partial<Pick<IssueResponse, 'cycle' | 'project'>>;

interface Counting {
  /** Ids of all issues that may have been in scope at any time. */
  readonly ids: readonly string[];
  readonly days: readonly DayEnd[];
  /** First sequence that is not counted; default: all events are counted. */
  readonly before?: number;
  isIn(issue: EventIssue): boolean;
}

/** Returns one entry per requested day, in the order of `days`. */
export async function countedByDay(
  ctx: Context,
  { ids, days, before = Number.MAX_SAFE_INTEGER, isIn }: Counting,
): Promise<Day[]> {
  const { visibleTeams } = withIssueVisibility(ctx);
  const counters = days.map(({ day }) => emptyDay(day));
  for (let at = 0; at < ids.length; at += issuesAtOnce) {
    const some = JSON.stringify(ids.slice(at, at + issuesAtOnce));
    const ends = endsOf(await ctx.store.read(ctx.scope, eventsOfIssues, { ids: some, before }), days);
    const sequences = [...ends.keys()];
    for (let from = 0; from < sequences.length; from += eventsAtOnce)
      for (const event of await eventsAt(ctx.store, ctx.scope, sequences.slice(from, from + eventsAtOnce))) {
        const issue = event.data as EventIssue;
        if (issue.deletedAt !== null || !isIn(issue)) continue;
        if (visibleTeams !== null && !visibleTeams.has(issue.team.id)) continue;
        for (const index of ends.get(event.sequence)!) count(counters[index]!, issue);
      }
  }
  return counters.map(rounded);
}

export interface DayEnd {
  readonly day: string;
  /** End of the day, exclusive; Infinity for the last day, so that events written late still count. */
  readonly endMs: number;
}

/** Returns the days that a span touches; an empty span has the day on which it begins. */
export function daysOf(zone: string, fromMs: number, toMs: number): DayEnd[] {
  const days: DayEnd[] = [];
  const { year, month, day } = utcToWall(zone, fromMs);
  for (let later = 0; ; later++) {
    const endMs = wallToUtc(zone, { year, month, day: day + later + 1, hour: 0, minute: 0 });
    const isLast = endMs >= toMs;
    const name = new Date(Date.UTC(year, month - 1, day + later)).toISOString().slice(0, 10);
    days.push({ day: name, endMs: isLast ? Infinity : endMs });
    if (isLast) return days;
  }
}

/** Maps the sequence of each issue's last event before the end of a day to the indexes of those days. */
function endsOf(
  rows: readonly IssueEventRow[],
  days: readonly DayEnd[],
): ReadonlyMap<number, readonly number[]> {
  const ends = new Map<number, number[]>();
  for (const events of byIssue(rows))
    for (const [index, { endMs }] of days.entries()) {
      const last = events.findLast(({ created_at: at }) => at < endMs);
      if (!last) continue;
      const known = ends.get(last.sequence);
      if (known) known.push(index);
      else ends.set(last.sequence, [index]);
    }
  return ends;
}

function byIssue(rows: readonly IssueEventRow[]): Iterable<readonly IssueEventRow[]> {
  return Map.groupBy(rows, ({ issue_id }) => issue_id).values();
}

const countedAs: Readonly<Partial<Record<StateType, 'started' | 'completed' | 'canceled'>>> = {
  started: 'started',
  completed: 'completed',
  canceled: 'canceled',
  duplicate: 'canceled',
};

function count({ issues, points }: Day, { state, estimate }: EventIssue): void {
  for (const name of ['scope', countedAs[state.type]] as const)
    if (name !== undefined) {
      issues[name]++;
      points[name] += estimate ?? 0;
    }
}

const nothing = { scope: 0, started: 0, completed: 0, canceled: 0 };
const emptyDay = (day: string): Day => ({ day, issues: { ...nothing }, points: { ...nothing } });

/** Removes binary floating-point noise from the sums. */
function rounded({ day, issues, points }: Day): Day {
  const round = (value: number): number => Math.round(value * 1e6) / 1e6;
  const { scope, started, completed, canceled } = points;
  return {
    day,
    issues,
    points: {
      scope: round(scope),
      started: round(started),
      completed: round(completed),
      canceled: round(canceled),
    },
  };
}
