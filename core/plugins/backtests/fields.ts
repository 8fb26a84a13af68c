// What an effect would make of each field, and whether what somebody made of it comes to the same.
import { isDeepStrictEqual } from 'node:util';
import { short } from '../../changes/diff.ts';
import { type Effect } from '../runs/effects.ts';

export interface FieldEffect {
  /** Of a custom field `fields.<key>`. */
  readonly field: string;
  readonly before: unknown;
  readonly wouldBe: unknown;
}

type Values = Readonly<Record<string, unknown>>;

/** They follow from what was written and who wrote it, and nobody sets them. */
const given: ReadonlySet<string> = new Set([
  'version',
  'updatedAt',
  'url',
  'identifier',
  'number',
  'author',
  'creator',
]);

export function fieldEffectsOf({ values = {} }: Pick<Effect, 'values'>): FieldEffect[] {
  return Object.entries(values)
    .filter(([name]) => !given.has(name))
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

/** The fields that an event says were changed, with what they were made. */
export function changedBy({ previous, ...data }: Values): ReadonlyMap<string, unknown> {
  const before = (previous ?? {}) as Values;
  const after = Object.fromEntries(Object.keys(before).map((name) => [name, data[name]]));
  const values = Object.fromEntries(
    Object.keys(before).map((name) => [name, { before: before[name], after: after[name] }]),
  );
  return new Map(fieldEffectsOf({ values }).map(({ field, wouldBe }) => [field, short(wouldBe)]));
}

/** Of a set, what would have been added is there, and what would have been taken is not; of all else, the value is the same. */
export function isSame({ before, wouldBe }: Pick<FieldEffect, 'before' | 'wouldBe'>, is: unknown): boolean {
  if (!Array.isArray(wouldBe) || !Array.isArray(is) || !Array.isArray(before))
    return isDeepStrictEqual(nameOf(wouldBe), nameOf(is));
  const [was, would, now] = [before, wouldBe, is].map((list) =>
    list.map((one) => JSON.stringify(nameOf(one))),
  );
  const added = would!.filter((one) => !was!.includes(one));
  const taken = was!.filter((one) => !would!.includes(one));
  return added.every((one) => now!.includes(one)) && !taken.some((one) => now!.includes(one));
}

/** What is shown with its name is the same under another. */
function nameOf(value: unknown): unknown {
  const { id } = (value ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : (value ?? null);
}

function keysOf(before: unknown, after: unknown): string[] {
  const keys = new Set([before, after].flatMap((values) => Object.keys((values ?? {}) as Values)));
  return [...keys].filter((key) => !isDeepStrictEqual(valueIn(before, key), valueIn(after, key)));
}

function valueIn(values: unknown, key: string): unknown {
  return ((values ?? {}) as Values)[key] ?? null;
}
