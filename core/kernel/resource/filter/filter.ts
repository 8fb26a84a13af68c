// Filter fields of a resource, derived from its contract, and their mapping to SQL. Lists, webhook filters
// and plugin subscriptions use the same names and meanings.
import { Type, type TObject, type TSchema } from 'typebox';
import type { Contract } from '../../contract/contract.ts';
import type { Field, FieldOptions, FieldType, Reference, ReferenceTarget } from '../../contract/field.ts';
import { isReference, storedName } from '../../contract/schemas.ts';
import type { Directory } from '../../context.ts';
import { member } from '../../../features/people/contract.ts';
import type {
  FilterField,
  FilterFields,
  FilterValue,
  FilterWay,
  PlainField,
  ReferenceField,
} from '../../../platform/lib/filter/filter.ts';
import { foldName, listed, capital, snake } from '../../../platform/lib/text/words.ts';
import { idPattern, refersTo } from '../../../platform/lib/schema.ts';
import { plugin } from '../../../features/plugins/installs/contract.ts';
import type { FilterColumn } from '../../../platform/store/filter-sql.ts';
import { entriesOf } from '../directory.ts';
import { idsByName } from '../names/names.ts';

/** Filterable field, with the property by which referenced objects are found. */
export interface Filterable {
  readonly name: string;
  readonly field: Field;
  readonly by: string;
}

type AnyReference = Reference<ReferenceTarget, string, unknown, FieldOptions>;

function filterablesOf({ fields }: Contract): Filterable[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const { filter } = field.options;
    return filter ? [{ name, field, by: filter === true ? 'id' : filter }] : [];
  });
}

/** Returns the fields by their names in filters; empty for a resource without filters. */
export function filterFieldsOf(contract: Contract): FilterFields {
  const own = filterablesOf(contract).map((one) => [one.name, filterFieldOf(one)] as const);
  if (own.length === 0) return {};
  return {
    id: { type: 'text', path: 'id', pattern: idPattern(contract.id) },
    ...Object.fromEntries(own),
    createdAt: { type: 'time', path: 'createdAt' },
    updatedAt: { type: 'time', path: 'updatedAt' },
  };
}

const comparedAs: Readonly<Partial<Record<FieldType, PlainField['type']>>> = {
  number: 'number',
  flag: 'boolean',
  time: 'time',
  day: 'day',
};

export function filterFieldOf({ name, field, by }: Filterable): FilterField {
  if (field.type === 'actor') return actorField(name);
  if (isReference(field)) return referenceField(name, field, by);
  if (field.type === 'choice') {
    const words = wordsOf(field);
    return { type: 'text', path: name, ...words, rank: words.values };
  }
  const { minimum, maximum, type } = field.input as { minimum?: number; maximum?: number; type?: string };
  return {
    type: comparedAs[field.type] ?? 'text',
    path: name,
    ...(type === 'integer' ? { integer: true } : {}),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  };
}

/**
 * Matches only the id: the field contains the name of the actor at the time of the change, which may differ
 * from the name in the directory.
 */
function actorField(name: string): ReferenceField {
  const path = `${name}.id`;
  const pattern = `${idPattern(member.id)}|${idPattern(plugin.id)}`;
  return {
    type: 'reference',
    path,
    to: member,
    ways: [{ by: 'id', path, pattern, property: 'id' }],
    isPerson: true,
  };
}

function referenceField(name: string, field: AnyReference, by: string): ReferenceField {
  const shape = {
    type: 'reference' as const,
    to: field.to,
    ...(field.options.nullable ? { nullable: true as const } : {}),
    ...(field.to.name === member.name ? { isPerson: true as const } : {}),
  };
  if (field.by !== 'id') return { ...shape, path: name, ways: [wayByName(name, field.by, field.to)] };
  const path = `${name}.id`;
  const id: FilterWay = { by: 'id', path, pattern: idPattern(field.to.id), property: 'id' };
  const byName = [by, 'name'].filter((property) => property !== 'id' && shows(field, property));
  // A key identifies the object, so the name is not needed.
  const properties = byName.includes('key') ? ['key'] : [...new Set(byName)];
  const ways = properties.map((property) => wayByName(`${name}.${property}`, property, field.to));
  return { ...shape, path, ways: [id, ...ways] };
}

/** Returns true for a property that responses show and the directory contains. */
function shows({ response, to }: AnyReference, property: string): boolean {
  const { properties = {} } = response as Partial<TObject>;
  return property in properties && (to.directory?.entryFields.includes(property) ?? false);
}

function wayByName(path: string, property: string, to: ReferenceTarget): FilterWay {
  const target = (to as Partial<Contract>).fields?.[property];
  if (target?.type === 'choice') {
    const { values, aliases = {} } = wordsOf(target);
    const own = values.map((word) => [foldName(word), word] as const);
    return { by: 'word', path, property, words: { ...aliases, ...Object.fromEntries(own) } };
  }
  return { by: property === 'key' ? 'key' : 'name', path, property };
}

interface FieldWords {
  readonly values: readonly string[];
  readonly aliases?: Readonly<Record<string, string>>;
}

function wordsOf(field: Field): FieldWords {
  const { enum: values = [] } = field.response as { enum?: readonly string[] };
  const { aliases } = field.options as { aliases?: Readonly<Record<string, string>> };
  return aliases ? { values, aliases } : { values };
}

/** Columns by filter field. `found` maps names of objects that are not in the directory to their ids. */
export type FilterColumns = (
  directory: Directory,
  found: ReadonlyMap<string, string>,
) => Readonly<Record<string, FilterColumn>>;
const time = (value: FilterValue): number => Date.parse(String(value));

/** The directory resolves names to ids, so that an index on the id column serves the condition. */
export function filterColumnsOf(contract: Contract): FilterColumns {
  const own = filterablesOf(contract).map((one) => [one.name, filterColumnOf(one)] as const);
  const times = {
    createdAt: { sql: 'created_at', value: time },
    updatedAt: { sql: 'updated_at', value: time },
  };
  return (directory) => ({
    id: { sql: 'id' },
    ...Object.fromEntries(own.map(([name, columnIn]) => [name, columnIn(directory)])),
    ...times,
  });
}

function filterColumnOf({ name, field, by }: Filterable): (directory: Directory) => FilterColumn {
  const sql = snake(field.type === 'actor' ? `${name}Id` : storedName(name, field));
  const column: FilterColumn = {
    sql,
    ...(field.type === 'time' && { value: time }),
    ...(/^(text|markdown)$/.test(field.type) && { text: true }),
  };
  if (!isReference(field) || !field.to.directory) return () => column;
  const { to } = field;
  const property = field.by === 'id' ? (by === 'id' ? 'name' : by) : field.by;
  return (directory) => ({ sql, ...namesIn(directory, to, property) });
}

/** See `FilterColumn`. */
interface NameLookups {
  ids(way: FilterWay, values: readonly string[]): readonly string[];
  idsByName(passes: (name: string) => boolean): readonly string[];
}

/** Returns lookups by name for a section of the directory. */
export function namesIn(directory: Directory, to: ReferenceTarget, searched: string): NameLookups {
  const entries = entriesOf(directory, to);
  return {
    ids: ({ property }, values) => [
      ...new Set(values.flatMap((value) => idsByName(entries, property, value))),
    ],
    idsByName: (passes) =>
      [...entries.values()].filter((entry) => passes(String(entry[searched]))).map(({ id }) => id),
  };
}

/** Returns one list parameter for each filterable field. */
export function filterQueryOf(contract: Contract): TObject['properties'] {
  return Object.fromEntries(filterablesOf(contract).map((one) => [one.name, Type.Optional(valueOf(one))]));
}

/** Returns the schema of the compared value; for a reference, of its id or name. */
function valueOf(one: Filterable): TSchema {
  const field = filterFieldOf(one);
  if (field.type === 'reference') return referenceText(byIdAsWell(one, field));
  if (field.type === 'day') return text('A date as YYYY-MM-DD, or relative to today, such as `-P7D`.');
  if (field.type === 'time') return text('An ISO 8601 time, or relative to now, such as `-P7D`.');
  return one.field.input;
}

function byIdAsWell({ field }: Filterable, byName: ReferenceField): ReferenceField {
  if (!isReference(field) || field.by === 'id') return byName;
  return { ...byName, ways: [...byName.ways, { by: 'id', path: byName.path, property: 'id' }] };
}

/** Returns the schema of a parameter that names a referenced object. */
export function referenceText({ to, ways, nullable, isPerson }: ReferenceField): TSchema {
  const by = ways
    .filter((way) => way.by !== 'turn')
    .map((way) => (way.by === 'word' ? way.property : way.by));
  const relativeWords = ways.flatMap((way) => (way.by === 'turn' ? Object.keys(way.words ?? {}) : []));
  const words = [...(isPerson ? ['me'] : []), ...relativeWords, ...(nullable ? ['none'] : [])];
  const also =
    words.length > 0
      ? `, or ${listed(
          words.map((word) => `\`${word}\``),
          'or',
        )}`
      : '';
  const schema = text(
    `${capital(listed(by, 'or'))} of the ${to.name.replace('sla_', 'SLA ').replaceAll('_', ' ')}${also}.`,
  );
  return { ...schema, [refersTo]: to };
}

const text = (description: string): TSchema => Type.String({ minLength: 1, maxLength: 200, description });

/** Returns a function that builds a filter from the parameters of a list; null without such parameters. */
export function createQueryFilter(
  contract: Contract,
): (directory: Directory, query: Readonly<Record<string, unknown>>) => object | null {
  const all = filterablesOf(contract);
  return (directory, query) => {
    const requested = all.filter(({ name }) => query[name] !== undefined);
    if (requested.length === 0) return null;
    return Object.fromEntries(
      requested.map(({ name, field }) => [name, toResponseValue(directory, field, query[name])]),
    );
  };
}

/** Converts an id to the key that the field shows and is compared by. */
function toResponseValue(directory: Directory, field: Field, input: unknown): unknown {
  if (!isReference(field) || field.by === 'id') return input;
  return entriesOf(directory, field.to).get(String(input))?.[field.by] ?? input;
}
