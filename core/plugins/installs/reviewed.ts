// Which version a consent confirms: the digest of manifest and code, or the hash of code that came with one manifest only.
import { createHash } from 'node:crypto';
import { ApiError } from '../../lib/errors.ts';
import { canonical } from '../signature.ts';
import type { Install } from './schema.ts';

type Version = Pick<Install, 'manifest' | 'sha256'>;

/** Digest of the version that waits, by the hash of its code; `several` after the code came with another manifest. */
export type OfferedVersions = Readonly<Record<string, string>>;

const several = 'several';
/** Versions after these are confirmed by their digest alone, so that no flood of uploads makes the install forget one. */
const offeredMax = 100;

/** SHA-256 of manifest and code, in hex. The hash of the code alone says nothing of hosts and scopes. */
export const digestOf = ({ manifest, sha256 }: Version): string =>
  createHash('sha256').update(canonical({ manifest, sha256 })).digest('hex');

/** Adds a version that begins to wait. */
export function withOffered(offered: OfferedVersions, version: Version): OfferedVersions {
  const { sha256 } = version;
  const digest = digestOf(version);
  if (Object.hasOwn(offered, sha256))
    return { ...offered, [sha256]: offered[sha256] === digest ? digest : several };
  return Object.keys(offered).length < offeredMax ? { ...offered, [sha256]: digest } : offered;
}

/** Another version may have been uploaded since the review. @throws ApiError conflict */
export function requireReviewed(
  { pending, offered }: { readonly pending: Version; readonly offered: OfferedVersions },
  given: { readonly sha256?: string; readonly digest?: string },
): void {
  const digest = digestOf(pending);
  const isCode = given.sha256 === pending.sha256;
  if (given.digest === digest && (given.sha256 === undefined || isCode)) return;
  if (given.digest === undefined && isCode && offered[pending.sha256] === digest) return;
  const { id, version } = pending.manifest;
  const why =
    given.digest === undefined && isCode
      ? 'has code that was uploaded with more than one manifest'
      : given.digest === undefined && given.sha256 === undefined
        ? 'was not named'
        : 'is not the one that you named';
  throw new ApiError(
    'conflict',
    `Version ${version}, which waits, ${why}. Review it (GET /api/v1/plugins/${id}/consent), then send \`pending.digest\` as \`digest\`, or \`pending.sha256\` as \`sha256\` where its code came with one manifest.`,
  );
}
