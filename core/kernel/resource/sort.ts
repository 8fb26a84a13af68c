// Sort orders of the lists of a resource, from its contract: `sort=-targetDate,name`. Missing values sort
// last in both directions.
import { type TObject, Type } from 'typebox';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { didYouMean, snake } from '../../platform/lib/text/words.ts';
import type { SortKey } from '../../platform/store/page.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import type { Entity } from '../changes/change.ts';
import type { Context } from '../context.ts';
import type { Contract } from '../contract/contract.ts';
import type { Field } from '../contract/field.ts';
import { storedName } from '../contract/schemas.ts';

/** Sort keys of a field, ascending and descending. */
export interface Sorting {
  readonly ascending: readonly SortKey[];
  readonly descending: readonly SortKey[];
}

const namesMax = 3;

/** Returns the fields to sort by: the name, and those that the contract declares. */
function sortedFields({ fields }: Contract): readonly (readonly [name: string, field: Field])[] {
  const isName = (name: string, { type }: Field): boolean => name === 'name' && type === 'text';
  return Object.entries(fields).filter(([name, field]) => field.options.sort || isName(name, field));
}

/** Returns the sort orders by the names in `sort`. */
export function sortingsOf(contract: Contract): Readonly<Record<string, Sorting>> {
  const own = sortedFields(contract).map(([name, field]) => {
    const [last, first] = endsOf(field);
    return [name, bothWays(expressionOf(name, field, last), expressionOf(name, field, first))] as const;
  });
  return {
    createdAt: bothWays('created_at'),
    updatedAt: bothWays('updated_at'),
    ...Object.fromEntries(own),
  };
}

/** @param descending expression for the descending order, in which missing values sort last as well */
export function bothWays(ascending: string, descending: string = ascending): Sorting {
  return {
    ascending: [{ sql: ascending, direction: 'asc' }],
    descending: [{ sql: descending, direction: 'desc' }],
  };
}

/** Returns substitutes for a missing value: one above every value of the field, one below. */
export function endsOf({ type, response }: Field): readonly [above: string | number, below: string | number] {
  if (type === 'choice') return [(response as { enum?: readonly string[] }).enum?.length ?? 0, -1];
  if (type === 'number') return [1e9, -1e9];
  if (type === 'time') return [9e15, -9e15];
  if (type === 'day') return ['9999-12-31', ''];
  return ['\u{10FFFF}', ''];
}

/** Returns an expression that is never NULL, and cut so that its values fit into a cursor. */
function expressionOf(name: string, field: Field, missing: string | number): string {
  const column = snake(storedName(name, field));
  if (field.type === 'choice') return rankOf(column, field, missing);
  const stand = typeof missing === 'number' ? missing : quoted(missing);
  const value = field.options.nullable ? `coalesce(${column}, ${stand})` : column;
  return /^(number|day|time)$/.test(field.type) ? value : `substr(${value}, 1, 200)`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Ranks by the position of the word in its list, as filters compare it. */
function rankOf(column: string, { response }: Field, missing: string | number): string {
  const { enum: words = [] } = response as { enum?: readonly string[] };
  const cases = words.map((word, rank) => `WHEN ${quoted(word)} THEN ${rank}`);
  return `CASE ${column} ${cases.join(' ')} ELSE ${missing} END`;
}

export function sortQueryOf(sortings: Readonly<Record<string, Sorting>>): TObject['properties'] {
  const names = Object.keys(sortings);
  const description = `Sort order: at most ${namesMax} fields, comma-separated, from ${names.join(', ')}. The prefix \`-\` means descending.`;
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
  const fix = `Lists cannot be sorted by ${name}.${didYouMean(name, known)} Use ${known.join(', ')}. The prefix \`-\` means descending.`;
  return invalidField('sort', 'invalid_enum', fix);
}

interface List {
  /** Model name of the objects. */
  readonly kind: string;
  readonly table: string;
  /** Field with the owner of a list; null for one list per workspace. */
  readonly owner: string | null;
  /** Maximum position. Further objects share it, in the order of their creation. */
  readonly max: number;
}

/**
 * Returns a function that computes the position at the end of a list by the id of its owner, for objects that
 * are created without a position. The list is selected by `placedIn` of the resource.
 */
export function lastPositionIn({ kind, table, owner, max }: List) {
  const ofOwner = owner === null ? '' : `AND ${snake(owner)} = :owner`;
  const last = tenantStatement<{ position: number | null }>(
    `${table}.last_position`,
    `SELECT max(position) AS position FROM ${table} WHERE workspace_id = :ws ${ofOwner} AND deleted_at IS NULL`,
  );
  return async ({ store, scope, staged }: Context, ownerId: string): Promise<number> => {
    const row = await store.readOne(scope, last, owner === null ? {} : { owner: ownerId });
    const own = (staged?.changes ?? [])
      .filter((change) => change.kind === kind)
      .map(({ after }) => after as Entity & Readonly<Record<string, unknown>>)
      .filter((after) => after.deletedAt === null && (owner === null || after[owner] === ownerId))
      .map(({ position }) => Number(position));
    return Math.min(Math.floor(Math.max(-1, row?.position ?? -1, ...own)) + 1, max);
  };
}
