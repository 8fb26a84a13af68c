// Sort order of objects in their public representation: the same as that of rows by `core/kernel/resource/sort.ts`,
// so that both can be merged.
import type { Contract } from '../../contract/contract.ts';
import type { Field } from '../../contract/field.ts';
import { isReference } from '../../contract/schemas.ts';
import type { CursorValue } from '../../../platform/lib/cursor.ts';
import { endsOf } from '../sort.ts';
import type { Was } from './objects.ts';

/** Sort value, never null, with its direction. */
export interface AsOfSortKey {
  readonly of: (response: Was) => string | number;
  readonly direction: 'asc' | 'desc';
}

/** Ascending and descending keys of the names in `sort` that are not plain fields. */
export type SpecialKeys = Readonly<
  Record<string, readonly [ascending: readonly AsOfSortKey[], descending: readonly AsOfSortKey[]]>
>;

/** @param sort value that `sortKeysOf` has validated */
export function keysOf(contract: Contract, sort: string, special: SpecialKeys = {}): AsOfSortKey[] {
  return sort.split(',').flatMap((term) => {
    const isDescending = term.startsWith('-');
    const name = isDescending ? term.slice(1) : term;
    const own = special[name];
    if (own) return isDescending ? own[1] : own[0];
    return [
      isDescending
        ? { of: valueOf(contract, name, 'below'), direction: 'desc' }
        : { of: valueOf(contract, name, 'above'), direction: 'asc' },
    ];
  });
}

function valueOf(contract: Contract, name: string, missing: 'above' | 'below'): AsOfSortKey['of'] {
  if (name === 'createdAt' || name === 'updatedAt') return (response) => Date.parse(String(response[name]));
  const field = contract.fields[name];
  if (!field || isReference(field)) throw new Error(`${contract.path} cannot be sorted by ${name}.`);
  const [above, below] = endsOf(field);
  const compare = comparedOf(field);
  const end = missing === 'above' ? above : below;
  return ({ [name]: value }) => (value == null ? end : compare(value));
}

const sortedCharacters = 200;

function comparedOf({ type, response }: Field): (value: unknown) => string | number {
  const { enum: words = [] } = response as { enum?: readonly string[] };
  if (type === 'choice') return (value) => words.indexOf(String(value));
  if (type === 'number') return Number;
  if (type === 'day') return String;
  if (type === 'time') return (value) => Date.parse(String(value));
  return (value) => [...String(value)].slice(0, sortedCharacters).join('');
}

/** Returns the sort values of an object, followed by its id. */
export function sortValuesOf(keys: readonly AsOfSortKey[], response: Was): CursorValue[] {
  return [...keys.map(({ of }) => of(response)), response.id];
}

/** Compares two positions by the keys, then by the id, in the direction of the last key. */
export function compared(
  keys: readonly AsOfSortKey[],
  a: readonly CursorValue[],
  b: readonly CursorValue[],
): number {
  for (let at = 0; at < a.length; at++) {
    const order = comparedValues(a[at]!, b[at]!);
    if (order !== 0) return (keys[at] ?? keys.at(-1))?.direction === 'desc' ? -order : order;
  }
  return 0;
}

/** Compares texts by their bytes, as SQLite does. */
function comparedValues(a: CursorValue, b: CursorValue): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return Number(a) - Number(b);
}
