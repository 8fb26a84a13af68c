// Time that only passes while people are at work: so many minutes from Friday evening on end on Monday. Exact over days on which the
// clocks are set, where eight hours on the wall may be seven or nine.
import { dayMs } from './time.ts';
import { utcToWall, wallOf } from './zone.ts';

/** As ISO 8601 numbers them, from 1 on. */
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

/** Minutes since midnight on the wall, the second excluded; up to 1440. */
export type Hours = readonly [from: number, to: number];

export interface BusinessWeek {
  readonly timeZone: string;
  /** Ascending and apart; a day that is missing is free. */
  readonly hours: Readonly<Partial<Record<Weekday, readonly Hours[]>>>;
  /** Days as YYYY-MM-DD that are free whatever day of the week they are. */
  readonly holidays: ReadonlySet<string>;
}

/** What does not end within so many days never does. */
const daysMax = 5 * 366;

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * The moment at which so much business time has passed. With nothing left it is the moment itself; what ends with a working day ends
 * then, and not when the next one begins.
 * @returns null where that is more than five years ahead
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

/** How much business time lies between two moments; 0 where the second is not behind the first. */
export function businessMsBetween(week: BusinessWeek, from: number, to: number): number {
  let passed = 0;
  for (const span of spansFrom(week, from)) {
    if (span.from >= to) break;
    passed += Math.max(0, Math.min(span.to, to) - Math.max(span.from, from));
  }
  return passed;
}

/** The working hours from the day of a moment on, in order. */
function* spansFrom({ timeZone, hours, holidays }: BusinessWeek, at: number): Generator<Span> {
  const { year, month, day } = utcToWall(timeZone, at);
  const first = Date.UTC(year, month - 1, day);
  const momentOf = wallOf(timeZone);
  for (let days = 0; days < daysMax; days++) {
    const date = new Date(first + days * dayMs);
    const ofDay = hours[weekdays[(date.getUTCDay() + 6) % 7]!] ?? [];
    if (ofDay.length === 0 || holidays.has(date.toISOString().slice(0, 10))) continue;
    for (const [from, to] of ofDay)
      yield { from: momentOf(date.getTime(), from), to: momentOf(date.getTime(), to) };
  }
}
