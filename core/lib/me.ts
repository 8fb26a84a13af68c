// Who `me` is in a request: the member behind the key that asks. A plugin acts for itself, and is nobody's.
import { invalidField } from './errors.ts';

/** @throws ApiError validation_failed (invalid_format) */
export function requireMe(memberId: string | null | undefined, path: string): string {
  if (memberId) return memberId;
  throw invalidField(path, 'invalid_format', {
    why: 'Whoever asks is no member.',
    fix: 'Give the id of a member.',
  });
}
