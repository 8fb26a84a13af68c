// What the objects of a resource are filtered by, from their contract: the same names and meanings in lists, webhook filters and
// plugin subscriptions, and how each lies in SQL.
import { Type, type TObject, type TSchema } from 'typebox';
import type { Contract } from '../contract/contract.ts';
import type { Field, FieldType } from '../contract/field.ts';
import { isReference, keptName } from '../contract/schemas.ts';
import type { Directory } from '../context.ts';
import { parseFilter, type FilterField, type FilterFields, type FilterValue } from '../lib/filter.ts';
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

type Columns = Readonly<Record<string, FilterColumn>>;
const time = (value: FilterValue): number => Date.parse(String(value));

/** Names resolve to ids through the directory, so that an index on the id column serves the condition. */
export function filterColumnsOf(contract: Contract): (directory: Directory) => Columns {
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
  const sql = snake(field.type === 'actor' ? `${name}Id` : keptName(name, field));
  const column: FilterColumn = field.type === 'time' ? { sql, value: time } : { sql };
  if (!isReference(field)) return () => column;
  const property = field.by === 'id' ? by : field.by;
  if (property === 'id') return () => column;
  return (directory) => ({
    sql,
    ids: (passes) =>
      [...entriesOf(directory, field.to).values()]
        .filter((entry) => passes(String(entry[property])))
        .map(({ id }) => id),
  });
}

/** The parameters of a plain list: each field that filters, by its value. */
export function filterQueryOf(contract: Contract): TObject['properties'] {
  return Object.fromEntries(filterablesOf(contract).map((one) => [one.name, Type.Optional(valueOf(one))]));
}

/** What a field is compared with: of a reference, what it is found by. */
function valueOf({ field, by }: Filterable): TSchema {
  if (field.type === 'actor') return Type.String({ maxLength: 80, description: 'An id.' });
  if (!isReference(field) || field.by !== 'id' || by === 'id') return field.given;
  return (field.to as Partial<Contract>).fields?.[by]?.given ?? Type.String({ maxLength: 200 });
}

/** What those parameters ask for. */
export function conditionsOf(
  contract: Contract,
): (directory: Directory, query: Readonly<Record<string, unknown>>) => readonly Condition[] {
  const names = filterablesOf(contract).map(({ name }) => name);
  const fields = filterFieldsOf(contract);
  const columnsIn = filterColumnsOf(contract);
  return (directory, query) => {
    const asked = names.filter((name) => query[name] !== undefined);
    if (asked.length === 0) return none;
    const filters = asked.map((name) => parseFilter({ [name]: query[name] }, fields));
    return filterConditions(filters, columnsIn(directory));
  };
}

const none: readonly Condition[] = [];
