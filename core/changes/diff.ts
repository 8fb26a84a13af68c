// What a change would show before and after it, field by field, as the API shows it.
import { createHash } from 'node:crypto';
import { hidePending } from '../events/learning.ts';
import type { Change, Entity } from './change.ts';

interface Value {
  readonly before: unknown;
  readonly after: unknown;
}
export type Values = Readonly<Record<string, Value>>;

/** Characters of one value, as a record of it holds them. */
export const valueCharsMax = 1_000;
/** What every creation has, and nobody chose. */
const given = new Set(['id', 'version', 'createdAt', 'updatedAt']);

export type ChangeAction = 'create' | 'update' | 'delete';

export function actionOf({ before, after }: Pick<Change, 'before' | 'after'>): ChangeAction {
  if (isDeleted(after) && !isDeleted(before)) return 'delete';
  return before === null ? 'create' : 'update';
}

function isDeleted(entity: (Entity & { readonly deletedAt?: number | null }) | null): boolean {
  return (entity?.deletedAt ?? null) !== null;
}

type Data = Readonly<Record<string, unknown>>;

/** What an event tells of the object itself, where it is told as part of another one: a relation of its issue. */
export function ownData({ kind, id }: Pick<Change, 'kind' | 'id'>, data: Data): Data {
  const part = data[kind] as Data | null | undefined;
  return typeof part === 'object' && part?.id === id ? part : data;
}

/** @param told of the event that the change would make */
export function valuesOf(change: Change, told: Data): Values {
  const data = ownData(change, told);
  if (actionOf(change) === 'delete') return removedValues(data);
  const { previous, ...after } = hidePending(data) as Record<string, unknown>;
  if (change.before !== null)
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

/** Of what goes: all that it is. */
function removedValues(data: Data): Values {
  const { previous: _, ...shown } = hidePending(data) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(shown)
      .filter(([name, value]) => !given.has(name) && name !== 'deletedAt' && !isNothing(value))
      .map(([name, value]) => [name, { before: value, after: null }]),
  );
}

/** By kind: what nobody chooses, and what says no more than the rest does. */
const workedOut: Readonly<Record<string, readonly string[]>> = {
  issue: ['identifier', 'number', 'url', 'subOrder', 'startedAt', 'completedAt', 'canceledAt'],
};

/**
 * The values for people; what the server works out by itself only where nothing else changes.
 * @param shown cuts long values; the identity where somebody decides by what they see
 */
export function shownValues(kind: string, values: Values, shown = short): Values {
  const all = Object.entries(values).filter(([, { before, after }]) => !(isEmpty(before) && isEmpty(after)));
  const chosen = all.filter(([name]) => !workedOut[kind]?.includes(name));
  return Object.fromEntries(
    (chosen.length === 0 ? all : chosen).map(([name, { before, after }]) => [
      name,
      { before: shown(before), after: shown(after) },
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

function isEmpty(value: unknown): boolean {
  return isNothing(value) || (typeof value === 'object' && Object.keys(value!).length === 0);
}

/** The value, or the beginning of its text where that is long. */
export function short(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return text.length <= valueCharsMax ? (value ?? null) : cutText(text);
}

export function cutText(text: string): string {
  return `${text.slice(0, valueCharsMax).toWellFormed()}…`;
}
