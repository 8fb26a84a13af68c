import type { Context } from '../../kernel/context.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';

/**
 * Returns the id of the member that the caller acts for.
 * @throws ApiError forbidden for plugins, which act for no member
 */
export function holderOf({ actor }: Context): string {
  if (actor.kind !== 'plugin' && actor.memberId !== undefined) return actor.memberId;
  throw new ApiError(
    'forbidden',
    'Only members have preferences and favorites. Use a key or token of a member.',
  );
}
