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

/**
 * A moment, or how long ago: `2026-11-20T12:00:00Z`, `2h`. Answers ISO 8601 in UTC.
 * @throws CommandError
 */
export function moment(flag: string, text: string, nowMs: number): string {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined)
    return new Date(nowMs - Number(count) * unitMs[unit]!).toISOString();
  if (!isTime(text))
    throw usage(
      `${flag} must be a time such as 2026-11-20T12:00:00Z, or an age such as 30m, 2h or 3d, not "${text}".`,
    );
  return new Date(Date.parse(text)).toISOString();
}

/** Milliseconds of `0`, `30m`, `2h`. @throws CommandError */
export function duration(flag: string, text: string, maxMs: number): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = text === '0' ? 0 : Number(count) * (unit === undefined ? Number.NaN : unitMs[unit]!);
  if (ms <= maxMs) return ms;
  throw usage(
    `${flag} must be 0 or a duration such as 30m or 2h, at most ${maxMs / unitMs.h!}h, not "${text}".`,
  );
}

/** A moment that is still to come, or how far off it is: `2027-01-31T12:00:00Z`, `90d`. In milliseconds. @throws CommandError */
export function timeAhead(flag: string, text: string, nowMs: number): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return nowMs + Number(count) * unitMs[unit]!;
  if (isTime(text) && Date.parse(text) > nowMs) return Date.parse(text);
  throw usage(
    `${flag} must be a future time such as 2030-01-31T12:00:00Z, or a duration such as 12h or 90d, not "${text}".`,
  );
}

export function usage(message: string, cause?: unknown): CommandError {
  return new CommandError(message, exitCodes.usage, { cause });
}
