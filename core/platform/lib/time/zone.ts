// Converts between UTC and local times of IANA time zones, for example for cycles, which begin at local
// midnight.
import { didYouMean } from '../text/nearest.ts';

const longestNameChars = 64;
/** Number of cached formatters: more than there are zones, fewer than their possible spellings. */
const cachedMax = 1_000;
/** Upper bound of UTC offsets, and lower bound between two clock changes of a zone. */
const farthestMs = 24 * 3_600_000;

/** A local date and time. */
export interface WallTime {
  readonly year: number;
  /** 1 is January. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

/** @property weekday 1 Monday to 7 Sunday, as in ISO 8601 */
export interface WallMoment extends WallTime {
  readonly second: number;
  readonly weekday: number;
}

/**
 * Returns the problem of a time zone name as a sentence; null if the name is valid. Offsets such as +01:00
 * are refused, because they have no daylight saving time.
 */
export function checkZone(name: string): string | null {
  if (isZone(name)) return null;
  return `Unknown time zone ${name.slice(0, longestNameChars)}; use one such as Europe/Berlin.${didYouMean(name, Intl.supportedValuesOf('timeZone'))}`;
}

function isZone(name: string): boolean {
  if (name.length > longestNameChars || !/^[A-Za-z]/.test(name)) return false;
  try {
    return formatterOf(name) !== undefined;
  } catch {
    return false;
  }
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known) return known;
  const two = '2-digit';
  const created = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: zone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
    ...{ year: 'numeric', month: two, day: two, hour: two, minute: two, second: two },
  });
  if (formatters.size >= cachedMax) formatters.clear();
  formatters.set(zone, created);
  return created;
}

/** Returns the local time as if it were UTC, in whole seconds. */
function localMs(zone: string, ms: number): number {
  const [date = '', time = ''] = formatterOf(zone).format(ms).split(', ');
  const [month, day, year] = date.split('/');
  const [hour, minute, second] = time.split(':');
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
}

/** Returns the UTC offset in milliseconds. */
function offsetMs(zone: string, ms: number): number {
  const whole = Math.floor(ms / 1_000) * 1_000;
  return localMs(zone, whole) - whole;
}

/** Returns the local time at a moment. @throws RangeError if the zone does not exist */
export function utcToWall(zone: string, ms: number): WallMoment {
  const local = new Date(localMs(zone, ms));
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    second: local.getUTCSeconds(),
    weekday: local.getUTCDay() || 7,
  };
}

/**
 * Converts a local time to UTC: the earlier one of a repeated time, and the first moment after a gap for a skipped time. Days
 * beyond the end of a month are days of the next.
 * @returns milliseconds since the epoch. @throws RangeError if the zone does not exist
 */
export function wallToUtc(zone: string, { year, month, day, hour, minute }: WallTime): number {
  const local = Date.UTC(year, month - 1, day, hour, minute);
  const before = offsetMs(zone, local - farthestMs);
  const after = offsetMs(zone, local + farthestMs);
  if (before === after) return local - before;
  const times = [local - before, local - after].filter((ms) => localMs(zone, ms) === local);
  return times.length > 0 ? Math.min(...times) : leapMs(zone, local - farthestMs, local + farthestMs);
}

/**
 * `wallToUtc` optimized for many ascending days: without a clock change near a day, the zone is queried once
 * for all times of the day.
 * @returns a function of a midnight, given as if it were UTC, and the minutes after it; its result is
 * milliseconds since the epoch
 */
export function wallOf(zone: string): (midnight: number, minutes: number) => number {
  let offsets = new Map<number, number>();
  const known = (ms: number): number => {
    const offset = offsets.get(ms) ?? offsetMs(zone, ms);
    if (offsets.size > 31) offsets = new Map();
    offsets.set(ms, offset);
    return offset;
  };
  return (midnight, minutes) => {
    const local = new Date(midnight + minutes * 60_000);
    const before = known(midnight - farthestMs);
    // `minutes` may reach the end of the day, so the range extends to the day after it.
    if (before === known(midnight + 2 * farthestMs)) return local.getTime() - before;
    return wallToUtc(zone, {
      year: local.getUTCFullYear(),
      month: local.getUTCMonth() + 1,
      day: local.getUTCDate(),
      hour: local.getUTCHours(),
      minute: local.getUTCMinutes(),
    });
  };
}

/** Returns the first moment with the same UTC offset as at `to`. */
function leapMs(zone: string, from: number, to: number): number {
  const offset = offsetMs(zone, to);
  let [low, high] = [from, to];
  while (high - low > 1_000) {
    const middle = Math.floor((low + high) / 2_000) * 1_000;
    if (offsetMs(zone, middle) === offset) high = middle;
    else low = middle;
  }
  return high;
}
