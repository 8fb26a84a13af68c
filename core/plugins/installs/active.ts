// What only a plugin that runs can be asked for.
import { ApiError } from '../../lib/errors.ts';
import type { Install } from './schema.ts';

/** @throws ApiError conflict */
export function requireActive({ state, stateReason }: Pick<Install, 'state' | 'stateReason'>): void {
  if (state === 'active') return;
  // Some reasons are sentences.
  const reason = (stateReason ?? 'activate it first').replace(/\.$/, '');
  throw new ApiError('conflict', `The plugin is ${state}: ${reason}.`);
}
