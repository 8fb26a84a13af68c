// What a change would show before and after it, field by field, as the API shows it.
import { createHash } from 'node:crypto';
import { hidePending } from '../events/learning.ts';
import type { Change } from './change.ts';

interface Value {
  readonly before: unknown;
  readonly after: unknown;
}
export type Values = Readonly<Record<string, Value>>;

/** Characters of one value, as a record of it holds them. */
export const valueCharsMax = 1_000;
/** What every creation has, and nobody chose. */
const given = new Set(['id', 'version', 'createdAt', 'updatedAt']);

/** @param data of the event that the change would make */
export function valuesOf({ before: was }: Change, data: Readonly<Record<string, unknown>>): Values {
  const { previous, ...after } = hidePending(data) as Record<string, unknown>;
  if (was !== null)
    return Object.fromEntries(
      Object.entries((previous ?? {}) as Record<string, unknown>).map(([name, before]) => [
        name,
        { before: before ?? null, after: after[name] ?? null },
      ]),
    );
  return Object.fromEntries(
    Object.entries(after)
      .filter(([name, value]) => !given.has(name) && !isNothing(value))
      .map(([name, value]) => [name, { before: null, after: value }]),
  );
}

/** Of what goes: all that it is. @param data of the event that the change would make */
export function removedValues(data: Readonly<Record<string, unknown>>): Values {
  const { previous: _, ...shown } = hidePending(data) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(shown)
      .filter(([name, value]) => !given.has(name) && name !== 'deletedAt' && !isNothing(value))
      .map(([name, value]) => [name, { before: value, after: null }]),
  );
}

/** The values, each cut where it is long. */
export function cutValues(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, { before, after }]) => [
      name,
      { before: short(before), after: short(after) },
    ]),
  );
}

/**
 * Says of two diffs whether they are the same, however long their values are.
 * @param madeMs the times between which the change was planned: those are the times at which it is applied, so they may differ
 */
export function digestOf(values: Values, madeMs: { readonly since: number; readonly until: number }): string {
  const text = JSON.stringify(values, (_, value: unknown) =>
    typeof value === 'string' && isTimeOf(value, madeMs) ? '(when it is applied)' : value,
  );
  return createHash('sha256').update(text).digest('base64url');
}

function isTimeOf(text: string, { since, until }: { since: number; until: number }): boolean {
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return false;
  const at = Date.parse(text);
  return at >= since && at <= until;
}

function isNothing(value: unknown): boolean {
  return (
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** The value, or the beginning of its text where that is long. */
export function short(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return text.length <= valueCharsMax ? (value ?? null) : cutText(text);
}

export function cutText(text: string): string {
  return `${text.slice(0, valueCharsMax).toWellFormed()}…`;
}
