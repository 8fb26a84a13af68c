// Computes the values of each field before and after a change, in their API representation.
import { createHash } from 'node:crypto';
import { hidePending } from '../events/log/commit-assigned.ts';
import type { Change, Entity } from './change.ts';

interface Value {
  readonly before: unknown;
  readonly after: unknown;
}
export type FieldChanges = Readonly<Record<string, Value>>;

export const valueCharsMax = 1_000;
const serverAssigned = new Set(['id', 'version', 'createdAt', 'updatedAt']);

export type ChangeAction = 'create' | 'update' | 'delete';

export function actionOf({ before, after }: Change): ChangeAction {
  if (isDeleted(after) && !isDeleted(before)) return 'delete';
  return before === null ? 'create' : 'update';
}

function isDeleted(entity: (Entity & { readonly deletedAt?: number | null }) | null): boolean {
  return (entity?.deletedAt ?? null) !== null;
}

type Data = Readonly<Record<string, unknown>>;

/**
 * Returns the data of the changed object: the whole data of the event, or a part of it if the event describes
 * another object, such as the issue of a relation.
 */
export function ownData({ kind, id }: Change, data: Data): Data {
  const part = data[kind] as Data | null | undefined;
  return typeof part === 'object' && part?.id === id ? part : data;
}

/** @param eventData data of the event that the change would emit */
export function valuesOf(change: Change, eventData: Data): FieldChanges {
  const data = ownData(change, eventData);
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
      .filter(([name, value]) => !serverAssigned.has(name) && !isNothing(value))
      .map(([name, value]) => [name, { before: null, after: value }]),
  );
}

/** Returns the values of a deletion: all fields of the object. */
function removedValues(data: Data): FieldChanges {
  const { previous: _, ...displayed } = hidePending(data) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(displayed)
      .filter(([name, value]) => !serverAssigned.has(name) && name !== 'deletedAt' && !isNothing(value))
      .map(([name, value]) => [name, { before: value, after: null }]),
  );
}

/** Fields by entity that the server computes, or that add nothing to the others. */
const workedOut: Readonly<Record<string, readonly string[]>> = {
  issue: ['identifier', 'number', 'url', 'subOrder', 'startedAt', 'completedAt', 'canceledAt'],
};

/**
 * Returns the values for people; server-computed fields only if nothing else changes.
 * @param displayed formats a value; default: shortens it. The identity is for people who decide on full
 * values
 */
export function displayChanges(kind: string, values: FieldChanges, displayed = short): FieldChanges {
  const all = Object.entries(values).filter(([, { before, after }]) => !(isEmpty(before) && isEmpty(after)));
  const chosen = all.filter(([name]) => !workedOut[kind]?.includes(name));
  return Object.fromEntries(
    (chosen.length === 0 ? all : chosen).map(([name, { before, after }]) => [
      name,
      { before: displayed(before), after: displayed(after) },
    ]),
  );
}

/**
 * Returns a digest of the full values.
 * @param plannedMs time range of the planning; times within it are ignored, because applying the change
 * renews them
 */
export function digestOf(
  values: FieldChanges,
  plannedMs: { readonly since: number; readonly until: number },
): string {
  const text = JSON.stringify(values, (_, value: unknown) =>
    typeof value === 'string' && isTimeOf(value, plannedMs) ? '(when it is applied)' : value,
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

/** Returns the value, or the start of its text if that exceeds `valueCharsMax`. */
export function short(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return text.length <= valueCharsMax ? (value ?? null) : cutText(text);
}

export function cutText(text: string): string {
  return `${text.slice(0, valueCharsMax).toWellFormed()}…`;
}
