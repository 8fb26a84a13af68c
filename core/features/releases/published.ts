import { ApiError } from '../../platform/lib/errors/errors.ts';
import type { Release } from './model.ts';

/**
 * @param so consequence, for the end of the error message
 * @throws ApiError conflict
 */
export function requireUnpublished(release: Release, so: string): void {
  if (release.publishedAt !== null) throw new ApiError('conflict', `The release was published, so ${so}.`);
}
