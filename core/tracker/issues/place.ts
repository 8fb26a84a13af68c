// Where one of several is to stand: before another one, behind another one, or at an end. Said in the same words of cards and sub-issues.
import { Type } from 'typebox';
import { invalidField } from '../../lib/errors.ts';
import { nameOf, nullable, writes, type Writes } from '../../lib/schema.ts';
import { issue } from './contract.ts';

const nothing: Writes = [];
const ends = ['top', 'bottom'] as const;

/**
 * The properties of a body that say it.
 * @param other what the others are, in words: `The card`
 * @param end what an end is
 */
export function placeInputs(other: string, end: string) {
  const beside = (description: string) =>
    Type.Optional(Type.Unsafe<string | null>({ ...nullable(nameOf(issue)), description, [writes]: nothing }));
  return {
    before: beside(`${other} that it is put before; null puts it last.`),
    after: beside(`${other} that it is put behind; null puts it first.`),
    position: Type.Optional(
      Type.Unsafe<(typeof ends)[number]>({
        ...Type.Enum([...ends], { 'x-enum': 'Position', description: end }),
        [writes]: nothing,
      }),
    ),
  };
}

const ways = ['before', 'after', 'position'] as const;
type Given = { readonly [W in 'before' | 'after']?: string | null } & {
  readonly position?: (typeof ends)[number];
};

export interface Beside {
  readonly by: 'before' | 'after';
  readonly other: string;
}
export type Place = Beside | { readonly by: (typeof ends)[number] };

/** @returns the place, and the property that says it; null where none does. @throws ApiError validation_failed */
export function placeIn(given: Given): { readonly at: (typeof ways)[number]; readonly place: Place } | null {
  const [at, second] = ways.filter((way) => given[way] !== undefined);
  if (at === undefined) return null;
  if (second !== undefined)
    throw invalidField(second, 'conflict', {
      why: `${at} says where already.`,
      fix: `Leave out one of the two.`,
    });
  if (at === 'position') return { at, place: { by: given.position! } };
  const other = given[at]!;
  return { at, place: other === null ? { by: at === 'after' ? 'top' : 'bottom' } : { by: at, other } };
}
