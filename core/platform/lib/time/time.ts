// Parses ISO 8601 times, and durations as relative times, and converts between UTC and local times of IANA
// time zones.
import { invalidField } from '../errors/errors.ts';
import { didYouMean } from '../text/words.ts';

export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** Range of the years 0000 to 9999 in UTC. */
const firstTimeMs = Date.UTC(-1, 12, 1);
export const lastTimeMs = Date.UTC(10_000, 0, 1) - 1;

/** Returns true for an ISO 8601 date or date-time that exists, in the years 0000 to 9999. */
export function isTime(text: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text) &&
    isDay(text.slice(0, 10)) &&
    Date.parse(text) >= firstTimeMs &&
    Date.parse(text) <= lastTimeMs
  );
}

/** Returns true for a date YYYY-MM-DD that exists; `Date.parse` alone reads 30 February as 2 March. */
export function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text;
}

/** Returns milliseconds since the epoch. @throws ApiError validation_failed, naming the field */
export function readTime(text: string, path: string): number {
  if (isTime(text)) return Date.parse(text);
  throw invalidField(path, 'invalid_format', 'Give an ISO 8601 time such as 2026-11-20T12:00:00Z.');
}

/**
 * A time or date that depends on the current time, as an ISO 8601 duration: `-P7D` is seven days before a time, `P1M` a month after
 * it. Days and months are in UTC.
 */
export interface Relative {
  /** @returns ISO 8601, a date or a time in UTC */
  at(nowMs: number): string;
}

const yearsMax = 100;

export function looksRelative(text: string): boolean {
  return /^[+-]?P/i.test(text);
}

/** @returns undefined if the text is not a duration or exceeds a hundred years */
export function relativeTime(text: string): Relative | undefined {
  const duration = durationOf(text);
  return duration && { at: (nowMs) => new Date(added(nowMs, duration).epochMilliseconds).toISOString() };
}

/** Like `relativeTime` for dates; hours are not allowed. */
export function relativeDay(text: string): Relative | undefined {
  const duration = durationOf(text);
  if (!duration || /T/i.test(text)) return undefined;
  return { at: (nowMs) => added(nowMs, duration).toPlainDate().toString() };
}

function added(nowMs: number, duration: Temporal.Duration): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO('UTC').add(duration);
}

function durationOf(text: string): Temporal.Duration | undefined {
  try {
    const duration = Temporal.Duration.from(text);
    const years = duration.total({ unit: 'years', relativeTo: Temporal.PlainDate.from('2000-01-01') });
    return Math.abs(years) <= yearsMax ? duration : undefined;
  } catch (error) {
    // Temporal throws the same error for every text that it cannot parse.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

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
interface WallMoment extends WallTime {
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
 * Converts a local time to UTC: the earlier one of a repeated time, and the first moment after a gap for a
 * skipped time, such as a midnight at which a cycle begins. Days beyond the end of a month are days of the
 * next, and minutes beyond an hour those of a later hour.
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
