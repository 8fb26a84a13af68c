// Computes state changes of cycles: creation ahead, start and completion. Reads only numbers and end times
// from the store, and writes nothing.
import type { Change } from '../../kernel/changes/change.ts';
import type { Context } from '../../kernel/context.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { lastTimeMs, utcToWall, type WallTime, wallToUtc } from '../../platform/lib/time/time.ts';
import type { TeamEntry } from '../../kernel/resource/names/teams.ts';
import type { Rhythm } from '../teams/contract.ts';
import { cycle } from './contract.ts';
import { cycleModel, type Cycle } from './model.ts';
import { weekdays } from '../../platform/lib/time/business-time.ts';
import { cycleTable } from './tables.ts';

const lastOf = tenantStatement<{ number: number | null }>(
  'cycles.last_number',
  'SELECT max(number) AS number FROM cycles WHERE workspace_id = :ws AND team_id = :teamId',
);
const endOf = cycleTable.select(
  'last_end',
  ['ends_at'],
  ['team_id'],
  'AND deleted_at IS NULL ORDER BY starts_at DESC, id DESC LIMIT 1',
);

/** Deleted cycles are counted as well, so that no number is used twice. */
export async function nextNumber({ store, scope }: Context, teamId: string): Promise<number> {
  return ((await store.readOne(scope, lastOf, { teamId }))?.number ?? 0) + 1;
}

export const nameOfNumber = (number: number): string => `Cycle ${number}`;

/**
 * Returns the cycles that the rhythm of the team requires to be created, after all existing ones.
 * @param open cycles of the team that are not completed
 */
export async function createAhead(ctx: Context, team: TeamEntry, open: readonly Cycle[]): Promise<Change[]> {
  const missing = (team.cycles?.ahead ?? 0) - open.filter(({ status }) => status === 'upcoming').length;
  if (!team.cycles || missing <= 0) return [];
  const now = ctx.nowMs();
  const end = (await endOf.one(ctx.store, ctx.scope, { team_id: team.id }))?.ends_at;
  // If no cycle was open, periods that have passed are skipped.
  const isChain = end !== undefined && (end > now || open.length > 0);
  const from = isChain ? { ms: end, isEnd: true } : { ms: now, isEnd: false };
  const first = await nextNumber(ctx, team.id);
  const spans = spansFrom(team.timeZone, team.cycles as Rhythm, from, missing);
  return spans
    .filter(({ endsAt }) => endsAt <= lastTimeMs)
    .map((span, index) =>
      cycleModel.create({
        id: ctx.ids.next(cycle.id),
        teamId: team.id,
        number: first + index,
        name: nameOfNumber(first + index),
        description: '',
        ...span,
        status: 'upcoming',
        startedAt: null,
        completedAt: null,
        createdAt: now,
        updatedAt: now,
        deletedAt: null,
      }),
    );
}

/** Returns the patch that starts a cycle; an early start moves `startsAt`. */
export function starting({ startsAt }: Cycle, now: number): Partial<Cycle> {
  const at = Math.min(startsAt, now);
  return { status: 'active', startsAt: at, startedAt: at };
}

/** Returns the patch that completes a cycle; an early completion moves `endsAt`. */
export function completing({ startsAt, endsAt }: Cycle, now: number): Partial<Cycle> {
  const at = Math.max(startsAt, Math.min(endsAt, now));
  return { status: 'completed', endsAt: at, completedAt: at };
}

/** Times in milliseconds since the epoch. */
interface Span {
  readonly startsAt: number;
  readonly endsAt: number;
}

/** Earliest start of the first span. */
interface From {
  readonly ms: number;
  /** True if a cycle ends at `ms`, so that the cooldown is added first. */
  readonly isEnd: boolean;
}

/**
 * Returns periods of a team's cycles by its rhythm: whole weeks between local midnights, so a period with a clock change is an hour
 * longer or shorter.
 */
export function spansFrom(
  zone: string,
  { weeks, startsOn, cooldownWeeks }: Omit<Rhythm, 'ahead' | 'rollsOver'>,
  { ms, isEnd }: From,
  count: number,
): Span[] {
  const { year, month, day, weekday } = utcToWall(zone, ms);
  const daysToStart = (weekdays.indexOf(startsOn) + 8 - weekday) % 7;
  const cooldown = 7 * cooldownWeeks;
  const wall: WallTime = { year, month, day: day + daysToStart + (isEnd ? cooldown : 0), hour: 0, minute: 0 };
  let start = wallToUtc(zone, wall) < ms ? later(wall, 7) : wall;
  return Array.from({ length: count }, () => {
    const end = later(start, 7 * weeks);
    const span = { startsAt: wallToUtc(zone, start), endsAt: wallToUtc(zone, end) };
    start = later(end, cooldown);
    return span;
  });
}

const later = (wall: WallTime, days: number): WallTime => ({ ...wall, day: wall.day + days });
