// What a person decides, by a key or a session of their own. Apps and plugins act on behalf of somebody, and would decide about
// themselves.
import { ApiError } from '../lib/errors.ts';
import type { Authorized } from './authority.ts';

/** @param what for the middle of a sentence: `approve proposals` @throws ApiError forbidden for an app, and for a plugin */
export function requirePerson({ authority: { actor } }: Authorized, what: string): void {
  if (actor.kind !== 'app' && actor.kind !== 'plugin') return;
  throw new ApiError(
    'forbidden',
    `Only a person may ${what}, and ${actor.name} is ${actor.kind === 'app' ? 'an app' : 'a plugin'}. Use a key or a session of a member.`,
  );
}
