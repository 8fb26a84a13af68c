// Position of an item in a manual order: before or after another item, or at an end. Cards and
// sub-issues share this code.
import { Type } from 'typebox';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { nameOf, nullable, writes, type WrittenFields } from '../../../platform/lib/schema.ts';
import { issue } from '../contract.ts';

const nothing: WrittenFields = [];
const ends = ['top', 'bottom'] as const;

/**
 * Returns the properties of a request body that set a position.
 * @param other noun for the other items: `Card`
 * @param end description of `position`
 */
export function positionInputs(other: string, end: string) {
  const beside = (description: string) =>
    Type.Optional(Type.Unsafe<string | null>({ ...nullable(nameOf(issue)), description, [writes]: nothing }));
  return {
    before: beside(`${other} to place this one before; null places it last.`),
    after: beside(`${other} to place this one after; null places it first.`),
    position: Type.Optional(
      Type.Unsafe<(typeof ends)[number]>({
        ...Type.Enum([...ends], { 'x-enum': 'Position', description: end }),
        [writes]: nothing,
      }),
    ),
  };
}

const ways = ['before', 'after', 'position'] as const;
type PositionInput = { readonly [W in 'before' | 'after']?: string | null } & {
  readonly position?: (typeof ends)[number];
};

export interface PositionExtras {
  readonly by: 'before' | 'after';
  readonly other: string;
}
export type OrderPosition = PositionExtras | { readonly by: (typeof ends)[number] };

/**
 * Returns the position and the property that sets it; null if none does.
 * @throws ApiError validation_failed
 */
export function readPosition(
  input: PositionInput,
): { readonly at: (typeof ways)[number]; readonly position: OrderPosition } | null {
  const [at, second] = ways.filter((way) => input[way] !== undefined);
  if (at === undefined) return null;
  if (second !== undefined)
    throw invalidField(second, 'conflict', {
      why: `${at} already sets the position.`,
      fix: `Leave out ${at} or ${second}.`,
    });
  if (at === 'position') return { at, position: { by: input.position! } };
  const other = input[at]!;
  return { at, position: other === null ? { by: at === 'after' ? 'top' : 'bottom' } : { by: at, other } };
}
