// Splits the effects of a run into single fields, and compares them with those of another run or with the
// values that others set.
import { isDeepStrictEqual } from 'node:util';
import { short } from '../../../kernel/changes/change.ts';
import type { RunEffect } from '../runs/effects.ts';
import { renderData, type EventFacts, type EventRow } from '../../../kernel/events/event.ts';
import { pageOfSubject } from '../../../kernel/events/log/log.ts';
import { derivedId, idPrefixes } from '../../../platform/lib/ids.ts';
import { dayMs } from '../../../platform/lib/time/time.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';

/** Result of a run. */
export interface RunResult {
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly effects: readonly RunEffect[];
}

/** Field that two runs on the same event set differently; a value is null if the run set none. */
export interface Difference {
  /** Type of the object with its id, or its number if the run created it. */
  readonly object: string;
  readonly field: string;
  readonly old: unknown;
  readonly new: unknown;
}

interface FieldEffect {
  /** Name of the field; `fields.<key>` for a custom field. */
  readonly field: string;
  readonly before: unknown;
  readonly wouldBe: unknown;
}

type ChangedData = Readonly<Record<string, unknown>>;

/** Fields that the server derives from the write or its author. */
const derivedFields: ReadonlySet<string> = new Set([
  'version',
  'updatedAt',
  'url',
  'identifier',
  'number',
  'author',
  'creator',
]);

export function fieldEffectsOf({ values = {} }: Pick<RunEffect, 'values'>): FieldEffect[] {
  return Object.entries(values)
    .filter(([name]) => !derivedFields.has(name))
    .flatMap(([name, { before, after }]) =>
      name === 'fields'
        ? keysOf(before, after).map((key) => ({
            field: `fields.${key}`,
            before: valueIn(before, key),
            wouldBe: valueIn(after, key),
          }))
        : [{ field: name, before, wouldBe: after }],
    );
}

/** Returns the fields that an event changed, with their new values. */
function changedBy({ previous, ...data }: ChangedData): ReadonlyMap<string, unknown> {
  const before = (previous ?? {}) as ChangedData;
  const after = Object.fromEntries(Object.keys(before).map((name) => [name, data[name]]));
  const values = Object.fromEntries(
    Object.keys(before).map((name) => [name, { before: before[name], after: after[name] }]),
  );
  return new Map(fieldEffectsOf({ values }).map(({ field, wouldBe }) => [field, short(wouldBe)]));
}

/**
 * True if a value agrees with the effect. A list agrees if it contains all added items and none of the
 * removed ones.
 */
export function isSame({ before, wouldBe }: FieldEffect, is: unknown): boolean {
  if (!Array.isArray(wouldBe) || !Array.isArray(is) || !Array.isArray(before))
    return isDeepStrictEqual(nameOf(wouldBe), nameOf(is));
  const [was, would, now] = [before, wouldBe, is].map((list) =>
    list.map((one) => JSON.stringify(nameOf(one))),
  );
  const added = would!.filter((one) => !was!.includes(one));
  const taken = was!.filter((one) => !would!.includes(one));
  return added.every((one) => now!.includes(one)) && !taken.some((one) => now!.includes(one));
}

/** Reduces an object to its id, because its name may have changed. */
function nameOf(value: unknown): unknown {
  const { id } = (value ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : (value ?? null);
}

function keysOf(before: unknown, after: unknown): string[] {
  const keys = new Set([before, after].flatMap((values) => Object.keys((values ?? {}) as ChangedData)));
  return [...keys].filter((key) => !isDeepStrictEqual(valueIn(before, key), valueIn(after, key)));
}

function valueIn(values: unknown, key: string): unknown {
  return ((values ?? {}) as ChangedData)[key] ?? null;
}

/** Changes after this time are assumed to be unrelated to the event. */
const afterwardsMs = 7 * dayMs;
const pageEvents = 100;
const pagesMax = 20;

export interface Afterwards {
  /** Next value set by a person, by field; fields that nobody changed are absent. */
  readonly people: ReadonlyMap<string, unknown>;
  /** Value set by the plugin's original run for the event, by field. */
  readonly run: ReadonlyMap<string, unknown>;
}

/** @param installId install of the plugin whose original run for the event is compared */
export async function afterwardsOf(
  store: Store,
  scope: Scope,
  installId: string,
  event: EventRow,
  effect: RunEffect,
): Promise<Afterwards> {
  const fields = fieldEffectsOf(effect).map(({ field }) => field);
  const runId = derivedId(idPrefixes.run, event.id, installId);
  const people = new Map<string, unknown>();
  const run = new Map<string, unknown>();
  const untilMs = event.createdAt + afterwardsMs;
  const isRelevant = (one: EventFacts): boolean =>
    one.entityType === 'issue' && one.entityId === effect.id && one.createdAt <= untilMs && !isOf(one, event);
  for (let after = event.sequence, pages = 0; pages < pagesMax; pages++) {
    const page = await pageOfSubject(store, scope, effect.id, after, {
      limit: pageEvents,
      matches: isRelevant,
    });
    for (const one of page.events) {
      const by = authorOf(one, runId);
      const target = by === 'people' ? people : by === 'run' ? run : null;
      if (target)
        for (const [field, value] of changedBy(renderData(one)))
          if (!target.has(field)) target.set(field, value);
    }
    // People have changed all compared fields.
    if (!page.more || fields.every((field) => people.has(field))) break;
    after = page.through;
  }
  return { people, run };
}

/** True for events of the same request, because one change can emit several events. */
function isOf({ requestId }: EventFacts, event: EventRow): boolean {
  return requestId !== null && requestId === event.requestId;
}

function authorOf(event: EventRow, runId: string): 'people' | 'run' | null {
  const { kind } = event.actor;
  if (kind === 'user' || kind === 'api_key' || kind === 'app') return 'people';
  return event.cause.parentRunId === runId ? 'run' : null;
}

export function differencesOf(old: RunResult, next: RunResult): Difference[] {
  const [was, is] = [valuesOf(old), valuesOf(next)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((key) => {
    const [object, field] = JSON.parse(key) as [string, string];
    const [one, other] = [was.get(key) ?? null, is.get(key) ?? null];
    return isDeepStrictEqual(one, other) ? [] : [{ object, field, old: one, new: other }];
  });
}

/**
 * Returns the set values by object and field. Created objects have different ids in each run, so they are
 * numbered by type.
 */
function valuesOf({ error, effects }: RunResult): Map<string, unknown> {
  const values = new Map<string, unknown>();
  const createdCounts = new Map<string, number>();
  if (error) values.set(JSON.stringify(['run', 'error']), `${error.code}: ${error.message}`);
  for (const effect of effects) {
    const ordinal = (createdCounts.get(effect.kind) ?? 0) + 1;
    if (effect.action === 'create') createdCounts.set(effect.kind, ordinal);
    const object = `${effect.kind} ${effect.action === 'create' ? `new ${ordinal}` : effect.id}`;
    for (const { field, wouldBe } of fieldEffectsOf(effect))
      values.set(JSON.stringify([object, field]), wouldBe);
  }
  return values;
}
