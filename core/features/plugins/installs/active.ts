// Guards operations that only an active plugin supports.
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { Install } from './schema.ts';

/** @throws ApiError conflict */
export function requireActive({ state, stateReason }: Install): void {
  if (state === 'active') return;
  // Some reasons end with a period.
  const reason = (stateReason ?? 'no reason was recorded').replace(/\.$/, '');
  throw new ApiError('conflict', `The plugin is ${state}: ${reason}. Make the plugin active, then retry.`);
}
