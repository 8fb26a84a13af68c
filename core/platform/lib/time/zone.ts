// Converts between UTC and local times of IANA time zones, for example for cycles, which begin at local
// midnight.
import { didYouMean } from '../text/nearest.ts';

const longestNameChars = 64;

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
    return zonedTime(name, 0) !== undefined;
  } catch {
    return false;
  }
}

function zonedTime(zone: string, ms: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
}

/** Returns the local time at a moment. @throws RangeError if the zone does not exist */
export function utcToWall(zone: string, ms: number): WallMoment {
  const { year, month, day, hour, minute, second, dayOfWeek } = zonedTime(zone, Math.floor(ms));
  return { year, month, day, hour, minute, second, weekday: dayOfWeek };
}

/**
 * Converts a local time to UTC: the earlier one of a repeated time, and the first moment after a gap for a skipped time. Days
 * beyond the end of a month are days of the next, and minutes beyond an hour those of a later hour.
 * @returns milliseconds since the epoch. @throws RangeError if the zone does not exist
 */
export function wallToUtc(zone: string, { year, month, day, hour, minute }: WallTime): number {
  const wall = new Temporal.PlainDateTime(year, month, 1).add({
    days: day - 1,
    hours: hour,
    minutes: minute,
  });
  const earlier = wall.toZonedDateTime(zone, { disambiguation: 'earlier' });
  // For a skipped time, `earlier` precedes the gap.
  return earlier.toPlainDateTime().equals(wall)
    ? earlier.epochMilliseconds
    : earlier.getTimeZoneTransition('next')!.epochMilliseconds;
}
