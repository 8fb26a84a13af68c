// Periods of a team's cycles by its rhythm: whole weeks between local midnights, so a period with a clock
// change is an hour longer or shorter.
import { weekdays } from '../../platform/lib/time/business-time.ts';
import { utcToWall, wallToUtc, type WallTime } from '../../platform/lib/time/zone.ts';
import type { Rhythm } from '../teams/contract.ts';

/** Times in milliseconds since the epoch. */
export interface Span {
  readonly startsAt: number;
  readonly endsAt: number;
}

/** Earliest start of the first span. */
export interface From {
  readonly ms: number;
  /** True if a cycle ends at `ms`, so that the cooldown is added first. */
  readonly isEnd: boolean;
}

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
