// What was published is a fact: from then on little of a release can be changed.
import { ApiError } from '../../lib/errors.ts';
import type { Release } from './kind.ts';

/** @param so what follows from it, for the end of a sentence @throws ApiError conflict */
export function requireUnpublished(release: Pick<Release, 'publishedAt'>, so: string): void {
  if (release.publishedAt !== null) throw new ApiError('conflict', `The release was published, so ${so}.`);
}
