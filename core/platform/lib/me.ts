// Resolves `me` in a request: the member behind the caller's key. Plugins act for themselves and have no member.
import { invalidField } from './errors/errors.ts';

/** @throws ApiError validation_failed (invalid_format) */
export function requireMe(memberId: string | null | undefined, path: string): string {
  if (memberId) return memberId;
  throw invalidField(path, 'invalid_format', {
    why: 'The caller is not a member.',
    fix: 'Give the id of a member.',
  });
}
