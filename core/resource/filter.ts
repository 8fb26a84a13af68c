// What the objects of a resource are filtered by, from their contract: the same names and meanings in lists, webhook filters and
// plugin subscriptions, and how each lies in SQL.
import { Type, type TObject } from 'typebox';
import type { Contract } from '../contract/contract.ts';
import type { Field, FieldType } from '../contract/field.ts';
import { isReference, keptName } from '../contract/schemas.ts';
import type { Directory } from '../context.ts';
import type { Filter, FilterField, FilterFields, FilterValue } from '../lib/filter.ts';
import { filterConditions, type FilterColumn } from '../store/filter-sql.ts';
import type { Condition } from '../store/page.ts';
import { entriesOf } from './directory.ts';
import { snake } from './kind.ts';

/** A field that filters, and by which property of what it refers to. */
interface Filterable {
  readonly name: string;
  readonly field: Field;
  readonly by: string;
}

function filterablesOf({ fields }: Contract): Filterable[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const { filter } = field.options;
    return filter === undefined ? [] : [{ name, field, by: filter === true ? 'id' : filter }];
  });
}

/** By the names that filters use; empty for what nothing filters. */
export function filterFieldsOf(contract: Contract): FilterFields {
  const own = filterablesOf(contract).map((one) => [one.name, filterFieldOf(one)] as const);
  if (own.length === 0) return {};
  const times = { type: 'time' } as const;
  return {
    id: { type: 'text', path: 'id' },
    ...Object.fromEntries(own),
    createdAt: { ...times, path: 'createdAt' },
    updatedAt: { ...times, path: 'updatedAt' },
  };
}

const comparedAs: Readonly<Partial<Record<FieldType, FilterField['type']>>> = {
  number: 'number',
  flag: 'boolean',
  time: 'time',
};

function filterFieldOf({ name, field, by }: Filterable): FilterField {
  if (field.type === 'actor') return { type: 'text', path: `${name}.${by}` };
  if (isReference(field)) {
    const path = field.by === 'id' ? `${name}.${by}` : name;
    const target = (field.to as Partial<Contract>).fields?.[by];
    return { type: 'text', path, ...(target?.type === 'choice' ? wordsOf(target) : {}) };
  }
  if (field.type === 'choice') {
    const words = wordsOf(field);
    return { type: 'text', path: name, ...words, rank: words.values };
  }
  return {
    type: comparedAs[field.type] ?? 'text',
    path: name,
    ...(field.type === 'day' ? { ordered: true as const } : {}),
  };
}

function wordsOf(field: Field): Pick<FilterField, 'aliases'> & { readonly values: readonly string[] } {
  const { enum: values = [] } = field.shown as { enum?: readonly string[] };
  const { aliases } = field.options as { aliases?: Readonly<Record<string, string>> };
  return aliases ? { values, aliases } : { values };
}

/** Names resolve to ids through the directory, so that an index on the id column serves the condition. */
export function filterColumnsOf(
  contract: Contract,
  directory: Directory,
): Readonly<Record<string, FilterColumn>> {
  const time = (value: FilterValue): number => Date.parse(String(value));
  return {
    id: { sql: 'id' },
    ...Object.fromEntries(
      filterablesOf(contract).map((one) => [one.name, filterColumnOf(one, directory, time)]),
    ),
    createdAt: { sql: 'created_at', value: time },
    updatedAt: { sql: 'updated_at', value: time },
  };
}

function filterColumnOf(
  { name, field, by }: Filterable,
  directory: Directory,
  time: (value: FilterValue) => number,
): FilterColumn {
  const sql = snake(field.type === 'actor' ? `${name}Id` : keptName(name, field));
  if (field.type === 'time') return { sql, value: time };
  const property = isReference(field) && field.by !== 'id' ? field.by : by;
  if (!isReference(field) || property === 'id') return { sql };
  return {
    sql,
    ids: (passes) =>
      [...entriesOf(directory, field.to).values()]
        .filter((entry) => passes(String(entry[property])))
        .map(({ id }) => id),
  };
}

/** The parameters of a plain list: each field that filters, by its value. */
export function filterQueryOf(contract: Contract): TObject['properties'] {
  return Object.fromEntries(
    filterablesOf(contract).map(({ name, field }) => [name, Type.Optional(field.given)]),
  );
}

export function conditionsOf(
  contract: Contract,
  directory: Directory,
  query: Readonly<Record<string, unknown>>,
): Condition[] {
  const filters = filterablesOf(contract).flatMap(({ name }): Filter[] => {
    const value = query[name];
    return value === undefined ? [] : [{ field: name, test: 'in', values: [value as FilterValue] }];
  });
  return filters.length === 0 ? [] : filterConditions(filters, filterColumnsOf(contract, directory));
}
