// An object as the single values that an undo compares and puts back: each label of an issue and each custom field is one of its own,
// so that taking back one leaves those that people gave since.
import { sameValue, type Entity } from '../../changes/change.ts';

/** By the names of the fields as the row keeps them; a part of a field is `field` and its own name, with a slash between. */
export type Values = ReadonlyMap<string, unknown>;

/** What every row has, what is read along from another row, what only a commit gives, and what the service works out by itself. */
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

/** @param derived fields that follow from others, which are not compared */
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

/** What is absent is null: a label that is not there, a custom field without a value. */
export const valueOf = (values: Values, name: string): unknown => values.get(name) ?? null;

export function isSame(values: Values, others: Values, name: string): boolean {
  return sameValue(valueOf(values, name), valueOf(others, name));
}

/** The names of what differs. */
export function differing(before: Values, after: Values): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((name) => !isSame(before, after, name));
}

/** The field that a value belongs to. */
export const fieldOf = (name: string): string => name.split('/', 1)[0]!;

/** The fields of an entity with some of its values moved: what `kind.update` takes. */
export function patchOf(entity: Entity, moved: Values): Record<string, unknown> {
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
