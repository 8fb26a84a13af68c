// Entity tags (RFC 9110 §8.8.3), which identify the version of an object in HTTP.
import { codings, type Coding } from '../request/coding.ts';

/** Returns a strong validator: the version, compared by `If-Match`, and a hash of the body, compared by `If-None-Match`. */
export function etagOf(version: number | undefined, body: string | Uint8Array<ArrayBuffer>): string {
  return `"${version ?? 'h'}-${Bun.hash(body).toString(36)}"`;
}

/**
 * Returns the tag of a compressed body: other bytes must not have the same tag (RFC 9110 §8.8.3.3). The
 * coding adds a letter to the hash, so the tag stays strong, as `If-Match` requires (§13.1.1).
 */
export function etagAs(coding: Coding | null, etag: string): string {
  return coding === null ? etag : `${etag.slice(0, -1)}${coding[0]}"`;
}

/**
 * Returns the tag in `If-None-Match` that matches the body in any coding (RFC 9110 §13.1.2); null if none does.
 * @param etag tag of the uncompressed body
 */
export function knownTag(etag: string, { headers }: Request): string | null {
  const known = headers.get('if-none-match');
  if (known === null) return null;
  if (known.trim() === '*') return etag;
  const own = [etag, ...codings.map((coding) => etagAs(coding, etag))];
  // Proxies that compress by themselves weaken a tag.
  const tags = known.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.find((tag) => own.includes(tag)) ?? null;
}

/** Returns the version in an `If-Match` header; null for `*` or no header; -1, which no version equals, for a tag without a version. */
export function ifMatchVersion(header: string | null): number | null {
  if (header === null || header.trim() === '*') return null;
  const version = /^\s*(?:W\/)?"?(\d{1,15})(?:-[0-9a-z]+)?"?\s*$/.exec(header);
  return version ? Number(version[1]) : -1;
}
