// Checks that a consent confirms the pending version: by the digest of manifest and code, or by the code hash
// if the code was uploaded with only one manifest.
import { createHash } from 'node:crypto';
import { ApiError } from '../../../../platform/lib/errors/errors.ts';
import { canonical } from '../../signature.ts';
import type { Install } from '../schema.ts';

type Version = Pick<Install, 'manifest' | 'sha256'>;

/** Digests of pending versions by code hash; `several` if the code was uploaded with more than one manifest. */
export type OfferedVersions = Readonly<Record<string, string>>;

const several = 'several';
/**
 * Limit of entries. Versions beyond it require their digest for consent. Entries are not evicted, so that
 * many uploads cannot displace one.
 */
const offeredMax = 100;

/** Returns the SHA-256 of manifest and code in hex. The code hash alone would not cover hosts and scopes. */
export const digestOf = ({ manifest, sha256 }: Version): string =>
  createHash('sha256').update(canonical({ manifest, sha256 })).digest('hex');

/** Adds a version that becomes pending. */
export function withOffered(offered: OfferedVersions, version: Version): OfferedVersions {
  const { sha256 } = version;
  const digest = digestOf(version);
  if (Object.hasOwn(offered, sha256))
    return { ...offered, [sha256]: offered[sha256] === digest ? digest : several };
  return Object.keys(offered).length < offeredMax ? { ...offered, [sha256]: digest } : offered;
}

/** Requires that the consent names the pending version, because another may have been uploaded since. @throws ApiError conflict */
export function requireReviewed(
  { pending, offered }: { readonly pending: Version; readonly offered: OfferedVersions },
  confirmation: { readonly sha256?: string; readonly digest?: string },
): void {
  const digest = digestOf(pending);
  const isCode = confirmation.sha256 === pending.sha256;
  if (confirmation.digest === digest && (confirmation.sha256 === undefined || isCode)) return;
  if (confirmation.digest === undefined && isCode && offered[pending.sha256] === digest) return;
  const { id, version } = pending.manifest;
  const why =
    confirmation.digest === undefined && isCode
      ? 'has code that was uploaded with more than one manifest'
      : confirmation.digest === undefined && confirmation.sha256 === undefined
        ? 'is not named in the request'
        : 'is not the one in the request';
  throw new ApiError(
    'conflict',
    `The pending version ${version} ${why}. Review it (GET /api/v1/plugins/${id}/consent), then send \`pending.digest\` as \`digest\`, or \`pending.sha256\` as \`sha256\` if its code was uploaded with only one manifest.`,
  );
}
