// What lists of a resource are sorted by, from its contract: `sort=-targetDate,name`. A missing value sorts last when ascending.
import { Type, type TObject } from 'typebox';
import type { Contract } from '../contract/contract.ts';
import type { Field } from '../contract/field.ts';
import { keptName } from '../contract/schemas.ts';
import { invalidField } from '../lib/errors.ts';
import { didYouMean } from '../lib/nearest.ts';
import type { SortKey } from '../store/page.ts';
import { snake } from './kind.ts';

/** The keys that a field sorts by, ascending and descending. */
export interface Sorting {
  readonly ascending: readonly SortKey[];
  readonly descending: readonly SortKey[];
}

const namesMax = 3;

/** By the names that `sort` takes; empty where nothing sorts. */
export function sortingsOf(contract: Contract): Readonly<Record<string, Sorting>> {
  const own = Object.entries(contract.fields).filter(([, { options }]) => options.sort);
  if (own.length === 0) return {};
  return {
    createdAt: by('created_at'),
    updatedAt: by('updated_at'),
    ...Object.fromEntries(own.map(([name, field]) => [name, by(expressionOf(name, field))])),
  };
}

function by(sql: string): Sorting {
  return { ascending: [{ sql, direction: 'asc' }], descending: [{ sql, direction: 'desc' }] };
}

/** Never NULL, and no longer than a cursor carries without outgrowing its parameter. */
function expressionOf(name: string, field: Field): string {
  const column = snake(keptName(name, field));
  if (field.type === 'choice') return rankOf(column, field);
  if (field.type === 'number') return field.options.nullable ? `coalesce(${column}, 1e9)` : column;
  if (field.type === 'day') return field.options.nullable ? `coalesce(${column}, '9999-12-31')` : column;
  if (field.type === 'time') return field.options.nullable ? `coalesce(${column}, 9e15)` : column;
  return `substr(coalesce(${column}, ''), 1, 200)`;
}

/** By the place of the word in its list, as filters compare it. */
function rankOf(column: string, { shown }: Field): string {
  const { enum: words = [] } = shown as { enum?: readonly string[] };
  const cases = words.map((word, rank) => `WHEN '${word.replaceAll("'", "''")}' THEN ${rank}`);
  return `CASE ${column} ${cases.join(' ')} ELSE ${words.length} END`;
}

/** The parameter of a list that sorts. */
export function sortQueryOf(sortings: Readonly<Record<string, Sorting>>): TObject['properties'] {
  const names = Object.keys(sortings);
  if (names.length === 0) return {};
  const description = `Up to ${namesMax} of ${names.join(', ')}, comma-separated; a minus before a name reverses.`;
  return { sort: Type.Optional(Type.String({ maxLength: 100, description })) };
}

/** @throws ApiError validation_failed */
export function sortKeysOf(sortings: Readonly<Record<string, Sorting>>, sort: string): SortKey[] {
  const names = sort.split(',');
  if (names.length > namesMax) throw invalidField('sort', 'too_long', `Sort by at most ${namesMax} fields.`);
  return names.flatMap((name) => {
    const descending = name.startsWith('-');
    const field = descending ? name.slice(1) : name;
    const sorting = Object.hasOwn(sortings, field) ? sortings[field] : undefined;
    if (!sorting) throw unknownSorting(field, Object.keys(sortings));
    return descending ? sorting.descending : sorting.ascending;
  });
}

function unknownSorting(name: string, known: readonly string[]): Error {
  const fix = `Nothing sorts by ${name}.${didYouMean(name, known)} Use ${known.join(', ')}; a minus before the name reverses.`;
  return invalidField('sort', 'invalid_enum', fix);
}
