// Restricts decisions to persons, with their own session or key. Apps and plugins act on behalf of somebody,
// and could otherwise approve their own proposals.
import { ApiError } from '../../platform/lib/errors/errors.ts';
import type { Authorized } from './authority.ts';

/**
 * @param what completes the sentence, such as `approve proposals`
 * @throws ApiError forbidden for an app or a plugin
 */
export function requirePerson({ authority: { actor } }: Authorized, what: string): void {
  if (actor.kind !== 'app' && actor.kind !== 'plugin') return;
  throw new ApiError(
    'forbidden',
    `Only a person may ${what}, but ${actor.name} is ${actor.kind === 'app' ? 'an app' : 'a plugin'}. Use a key or session of a member.`,
  );
}
