// Computes business time, which passes only during working hours: an hour that starts on Friday evening ends
// on Monday. Clock changes are included: eight hours on the wall clock may be seven or nine.
import { minuteMs, utcToWall, wallToUtc } from './time.ts';

/** Weekdays in ISO 8601 order: index 0 is Monday, ISO day 1. */
export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;
export type Weekday = (typeof weekdays)[number];

/** Minutes since midnight, local time, end exclusive; up to 1440. */
export type Hours = readonly [from: number, to: number];

export interface BusinessWeek {
  readonly timeZone: string;
  /** Ascending and disjoint; a missing day has no working hours. */
  readonly hours: Readonly<Partial<Record<Weekday, readonly Hours[]>>>;
  /** Dates as YYYY-MM-DD without working hours, regardless of the weekday. */
  readonly holidays: ReadonlySet<string>;
}

/** Maximum number of days searched for the end of a duration. */
const daysMax = 5 * 366;

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the time at which `ms` of business time have passed: `at` itself if `ms` is 0 or less, and the end
 * of a working day rather than the start of the next.
 * @returns null if the result is more than five years ahead
 */
export function addBusinessMs(week: BusinessWeek, at: number, ms: number): number | null {
  if (ms <= 0) return at;
  let left = ms;
  for (const { from, to } of spansFrom(week, at)) {
    const start = Math.max(from, at);
    if (left <= to - start) return start + left;
    left -= Math.max(0, to - start);
  }
  return null;
}

/** Returns the business time between two times; 0 if `to` is not after `from`. */
export function businessMsBetween(week: BusinessWeek, from: number, to: number): number {
  let passed = 0;
  for (const span of spansFrom(week, from)) {
    if (span.from >= to) break;
    passed += Math.max(0, Math.min(span.to, to) - Math.max(span.from, from));
  }
  return passed;
}

/** Yields the working hours from the day of `at` on, in order. */
function* spansFrom({ timeZone, hours, holidays }: BusinessWeek, at: number): Generator<Span> {
  const { year, month, day } = utcToWall(timeZone, at);
  const first = new Temporal.PlainDate(year, month, day);
  for (let days = 0; days < daysMax; days++) {
    const date = first.add({ days });
    const ofDay = hours[weekdays[date.dayOfWeek - 1]!] ?? [];
    if (ofDay.length === 0 || holidays.has(date.toString())) continue;
    const momentAt = momentsOf(timeZone, date);
    for (const [from, to] of ofDay) yield { from: momentAt(from), to: momentAt(to) };
  }
}

/**
 * Converts minutes after midnight to UTC. A day without a clock change needs one conversion, however many
 * periods it has.
 */
function momentsOf(timeZone: string, date: Temporal.PlainDate): (minute: number) => number {
  const midnight = date.toZonedDateTime(timeZone);
  const midnightMs = midnight.epochMilliseconds;
  if (midnight.hoursInDay === 24) return (minute) => midnightMs + minute * minuteMs;
  const { year, month, day } = date;
  return (minute) => wallToUtc(timeZone, { year, month, day, hour: 0, minute });
}
