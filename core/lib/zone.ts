// Times on the clocks of a place, by the zones of IANA that the runtime knows: a cycle begins at midnight in Zagreb, whatever that is
// in UTC on that day.
import { didYouMean } from './nearest.ts';

const longestNameChars = 64;
/** Zones whose formatter is kept: more than there are, less than all spellings of them. */
const keptMax = 1_000;
/** No clock is farther from UTC, and none is set twice within so long. */
const farthestMs = 24 * 3_600_000;

/** What a calendar and a clock on the wall show. */
export interface WallTime {
  readonly year: number;
  /** 1 January. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

/** @property weekday 1 Monday to 7 Sunday, as ISO 8601 has it */
export interface WallMoment extends WallTime {
  readonly second: number;
  readonly weekday: number;
}

/** What is wrong with the name of a time zone, or null. An offset such as +01:00 is none: it knows of no summer. */
export function checkZone(name: string): string | null {
  if (isZone(name)) return null;
  return `There is no time zone ${name.slice(0, longestNameChars)}; name one such as Europe/Berlin.${didYouMean(name, Intl.supportedValuesOf('timeZone'))}`;
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
  const made = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: zone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
    ...{ year: 'numeric', month: two, day: two, hour: two, minute: two, second: two },
  });
  if (formatters.size >= keptMax) formatters.clear();
  formatters.set(zone, made);
  return made;
}

/** What the wall shows, as if it were UTC: whole seconds. */
function shownMs(zone: string, ms: number): number {
  const [date = '', time = ''] = formatterOf(zone).format(ms).split(', ');
  const [month, day, year] = date.split('/');
  const [hour, minute, second] = time.split(':');
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
}

/** How far the wall is ahead of UTC. */
function offsetMs(zone: string, ms: number): number {
  const whole = Math.floor(ms / 1_000) * 1_000;
  return shownMs(zone, whole) - whole;
}

/** What the wall shows at a time. @throws RangeError where there is no such zone */
export function utcToWall(zone: string, ms: number): WallMoment {
  const shown = new Date(shownMs(zone, ms));
  return {
    year: shown.getUTCFullYear(),
    month: shown.getUTCMonth() + 1,
    day: shown.getUTCDate(),
    hour: shown.getUTCHours(),
    minute: shown.getUTCMinutes(),
    second: shown.getUTCSeconds(),
    weekday: shown.getUTCDay() || 7,
  };
}

/**
 * When the wall shows a time: of two such times the earlier, and where the clocks leap over it, the first moment after the leap. Days
 * beyond the end of a month are days of the next.
 * @returns milliseconds since the epoch. @throws RangeError where there is no such zone
 */
export function wallToUtc(zone: string, { year, month, day, hour, minute }: WallTime): number {
  const shown = Date.UTC(year, month - 1, day, hour, minute);
  const before = offsetMs(zone, shown - farthestMs);
  const after = offsetMs(zone, shown + farthestMs);
  if (before === after) return shown - before;
  const times = [shown - before, shown - after].filter((ms) => shownMs(zone, ms) === shown);
  return times.length > 0 ? Math.min(...times) : leapMs(zone, shown - farthestMs, shown + farthestMs);
}

/**
 * `wallToUtc` for the times of many days, ascending: where no clock is set about a day, the zone is asked once for all times of it.
 * @returns the moment so many minutes after the midnight of a day, which is given as if it were UTC
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
    const shown = new Date(midnight + minutes * 60_000);
    const before = known(midnight - farthestMs);
    // The end of a day is the beginning of the next.
    if (before === known(midnight + 2 * farthestMs)) return shown.getTime() - before;
    return wallToUtc(zone, {
      year: shown.getUTCFullYear(),
      month: shown.getUTCMonth() + 1,
      day: shown.getUTCDate(),
      hour: shown.getUTCHours(),
      minute: shown.getUTCMinutes(),
    });
  };
}

/** The first moment at which the wall is as far from UTC as at `to`. */
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
