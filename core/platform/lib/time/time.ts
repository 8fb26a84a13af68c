// Parses ISO 8601 times and checks them against the calendar, because `Date.parse` also accepts invalid dates.
import { invalidField } from '../errors/errors.ts';

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
