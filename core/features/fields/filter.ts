// Filters and sorts issues by custom fields, named `fields.<key>`, with the operators of the field type.
import type { Entry } from '../../kernel/contract/contract.ts';
import type { Directory } from '../../kernel/context.ts';
import { member } from '../people/contract.ts';
import type { FilterField, FilterFields } from '../../platform/lib/filter/filter.ts';
import { idPattern } from '../../platform/lib/schema.ts';
import type { Was } from '../../kernel/resource/as-of/objects.ts';
import type { SpecialKeys } from '../../kernel/resource/as-of/list.ts';
import { bothWays, type Sorting } from '../../kernel/resource/sort.ts';
import type { FilterColumn } from '../../platform/store/filter-sql.ts';
import type { field, FieldValue } from './contract.ts';
import { numberMax } from './values.ts';

type FieldEntry = Entry<typeof field>;

/** Returns a value for each field by its name in filters and sorts; fields with null are omitted. */
function byFieldName<T>({ fields }: Directory, of: (field: FieldEntry) => T | null): Record<string, T> {
  const all: Record<string, T> = {};
  for (const field of fields.values()) {
    const one = of(field);
    if (one !== null) all[`fields.${field.key}`] = one;
  }
  return all;
}

export const customFilterFields = (directory: Directory): FilterFields =>
  byFieldName(directory, filterFieldOf);

function filterFieldOf({ key, type, options }: FieldEntry): FilterField {
  const path = `fields.${key}`;
  const values = options.map(({ value }) => value);
  const aliases = Object.fromEntries(options.map(({ name, value }) => [name, value]));
  switch (type) {
    case 'text':
    case 'url':
      return { type: 'text', path };
    case 'number':
      return { type: 'number', path, minimum: -numberMax, maximum: numberMax };
    case 'date':
      return { type: 'day', path };
    case 'checkbox':
      return { type: 'boolean', path };
    case 'select':
      return { type: 'text', path, values, aliases };
    case 'multi_select':
      return { type: 'text', path: `${path}[]`, values, aliases };
    case 'member':
      return {
        type: 'reference',
        path,
        to: member,
        ways: [{ by: 'id', path, pattern: idPattern(member.id), property: 'id' }],
        nullable: true,
        isPerson: true,
      };
  }
}

export const customColumns = (directory: Directory): Record<string, FilterColumn> =>
  byFieldName(directory, columnOf);

function columnOf(field: FieldEntry): FilterColumn {
  if (field.type !== 'multi_select') return { sql: customValue(field) };
  return {
    sql: 'v.value',
    wrap: (condition) =>
      `EXISTS (SELECT 1 FROM json_each(fields_json, '$.${field.id}') AS v WHERE ${condition})`,
  };
}

/**
 * Returns SQL for the value of a field, NULL if missing. Ids are safe to embed: letters, digits and an
 * underscore.
 */
export const customValue = ({ id }: FieldEntry): string => `json_extract(fields_json, '$.${id}')`;

/** Multi-selects and members have no sort order, because they contain several values, or only ids. */
const isUnordered = ({ type }: FieldEntry): boolean => type === 'multi_select' || type === 'member';

export const customSortings = (directory: Directory): Record<string, Sorting> =>
  byFieldName(directory, (field) => {
    if (isUnordered(field)) return null;
    const [above, below] = endsOf(field);
    return bothWays(orderOf(field, above), orderOf(field, below));
  });

/** Returns substitutes for a missing value that sort above and below every value of the field. */
function endsOf({ type, options }: FieldEntry): readonly [above: string | number, below: string | number] {
  if (type === 'number') return [9e15, -9e15];
  if (type === 'checkbox') return [2, -1];
  if (type === 'select') return [options.length, -1];
  return ['\u{10FFFF}', ''];
}

/**
 * Returns SQL that is never NULL.
 * @param missing substitute for a missing value
 */
function orderOf(field: FieldEntry, missing: string | number): string {
  const value = customValue(field);
  if (field.type === 'select') {
    const cases = field.options.map((option, index) => `WHEN '${option.value}' THEN ${index}`);
    return `CASE ${value} ${cases.join(' ')} ELSE ${missing} END`;
  }
  return typeof missing === 'number'
    ? `coalesce(${value}, ${missing})`
    : `substr(coalesce(${value}, '${missing}'), 1, 200)`;
}

/** Sort keys over values in API representation, with the same order as the SQL. */
export const customKeys = (directory: Directory): SpecialKeys =>
  byFieldName(directory, (field) => {
    if (isUnordered(field)) return null;
    const rank = rankOf(field);
    const of =
      (missing: string | number) =>
      ({ fields }: Was): string | number => {
        const value = (fields as Readonly<Record<string, FieldValue>>)[field.key];
        return (value === undefined ? null : rank(value)) ?? missing;
      };
    const [above, below] = endsOf(field);
    return [[{ of: of(above), direction: 'asc' }], [{ of: of(below), direction: 'desc' }]];
  });

/** Returns a function that ranks values; its result is null for an option that no longer exists. */
function rankOf({ type, options }: FieldEntry): (value: FieldValue) => string | number | null {
  switch (type) {
    case 'number':
    case 'checkbox':
      return Number;
    case 'select':
      return (value) => {
        const index = options.findIndex((option) => option.value === value);
        return index < 0 ? null : index;
      };
    default:
      return (value) => [...String(value)].slice(0, 200).join('');
  }
}
