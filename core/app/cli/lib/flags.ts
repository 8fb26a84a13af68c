// Values of flags that several commands take; a value that cannot be used is a usage error which names its flag.
import { isTime } from '../../../platform/lib/time/time.ts';
import { CommandError, exitCodes } from './output.ts';

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @throws CommandError */
export function wholeNumber(flag: string, text: string, min: number, max: number): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw usage(`${flag} must be a whole number from ${min} to ${max}, not "${text}".`);
}

/** Milliseconds of an age or duration: `30m`, `2h`, `3d`; undefined for other texts. */
export function ageMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * unitMs[unit]!;
}

/**
 * A moment, or how long ago: `2026-11-20T12:00:00Z`, `2h`. Answers ISO 8601 in UTC.
 * @throws CommandError
 */
export function moment(flag: string, text: string, nowMs: number): string {
  const age = ageMs(text);
  if (age !== undefined) return new Date(nowMs - age).toISOString();
  if (!isTime(text))
    throw usage(
      `${flag} must be a time such as 2026-11-20T12:00:00Z, or an age such as 30m, 2h or 3d, not "${text}".`,
    );
  return new Date(Date.parse(text)).toISOString();
}

/** Milliseconds of `0`, `30m`, `2h`. @throws CommandError */
export function duration(flag: string, text: string, maxMs: number): number {
  const ms = text === '0' ? 0 : ageMs(text);
  if (ms !== undefined && ms <= maxMs) return ms;
  throw usage(
    `${flag} must be 0 or a duration such as 30m or 2h, at most ${maxMs / unitMs.h!}h, not "${text}".`,
  );
}

/** A moment that is still to come, or how far off it is: `2027-01-31T12:00:00Z`, `90d`. In milliseconds. @throws CommandError */
export function timeAhead(flag: string, text: string, nowMs: number): number {
  const ahead = ageMs(text);
  if (ahead !== undefined) return nowMs + ahead;
  if (isTime(text) && Date.parse(text) > nowMs) return Date.parse(text);
  throw usage(
    `${flag} must be a future time such as 2030-01-31T12:00:00Z, or a duration such as 12h or 90d, not "${text}".`,
  );
}

/** Parts of a comma-separated text, such as `issue.*,comment.added`. */
export function commaSeparated(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function usage(message: string, cause?: unknown): CommandError {
  return new CommandError(message, exitCodes.usage, { cause });
}
