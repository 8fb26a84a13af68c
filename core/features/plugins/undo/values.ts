// Splits an object into the single values that an undo compares and reverts. Each label and each custom field
// of an issue is a separate value, so that reverting one does not affect those that people set since.
import { sameValue, type Entity } from '../../../kernel/changes/change.ts';

/** Keyed by field name of the row; a part of a field has the key `field/part`. */
export type FieldValueMap = ReadonlyMap<string, unknown>;

/** Base fields, fields joined from other rows, commit-assigned fields, and fields that the server derives. */
const notOwn: ReadonlySet<string> = new Set([
  'id',
  'version',
  'createdAt',
  'updatedAt',
  'number',
  'parentPlace',
  'issuePlace',
  'from',
  'to',
  'slaDueAt',
]);

const isList = (name: string, value: unknown): value is readonly string[] =>
  name.endsWith('Ids') && Array.isArray(value);
const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param derived fields that follow from others and are not compared */
export function valuesOf(entity: Entity, derived: readonly string[] = []): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(entity)) {
    if (notOwn.has(name) || derived.includes(name)) continue;
    if (isList(name, value)) for (const id of value) values.set(`${name}/${id}`, true);
    else if (name === 'fieldValues') for (const [key, one] of mapOf(value)) values.set(`${name}/${key}`, one);
    else values.set(name, value);
  }
  return values;
}

const mapOf = (value: unknown): [string, unknown][] => (isMap(value) ? Object.entries(value) : []);

/** Absent values count as null, such as a missing label or a custom field without a value. */
export const valueOf = (values: FieldValueMap, name: string): unknown => values.get(name) ?? null;

export function isSame(values: FieldValueMap, others: FieldValueMap, name: string): boolean {
  return sameValue(valueOf(values, name), valueOf(others, name));
}

export function differing(before: FieldValueMap, after: FieldValueMap): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((name) => !isSame(before, after, name));
}

/** Returns the field of a value name such as `labelIds/lbl_…`. */
export const fieldOf = (name: string): string => name.split('/', 1)[0]!;

/** Returns the patch for `model.update`: the fields of an entity with some of their values changed. */
export function patchOf(entity: Entity, moved: FieldValueMap): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const [name, value] of moved) {
    const field = fieldOf(name);
    if (field === name) {
      patch[field] = value;
      continue;
    }
    const part = name.slice(field.length + 1);
    const was = (patch[field] ?? entity[field as keyof Entity] ?? null) as unknown;
    patch[field] =
      isList(field, was) || field.endsWith('Ids') ? listWith(was, part, value) : mapWith(was, part, value);
  }
  return patch;
}

function listWith(was: unknown, id: string, isIn: unknown): string[] {
  const others = (Array.isArray(was) ? (was as string[]) : []).filter((one) => one !== id);
  return (isIn === null ? others : [...others, id]).sort();
}

function mapWith(was: unknown, key: string, value: unknown): Record<string, unknown> | null {
  const others = mapOf(was).filter(([name]) => name !== key);
  const all = value === null ? others : [...others, [key, value] as [string, unknown]];
  return all.length === 0 ? null : Object.fromEntries(all);
}
