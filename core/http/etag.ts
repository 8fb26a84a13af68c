// Entity tags (RFC 9110 §8.8.3), by which HTTP names the version of an object.
import { codings, type Coding } from './coding.ts';

/** Strong validator: the version, compared by `If-Match`, and a hash of the body, compared by `If-None-Match`. */
export function etagOf(version: number | undefined, body: string | Uint8Array<ArrayBuffer>): string {
  return `"${version ?? 'h'}-${Bun.hash(body).toString(36)}"`;
}

/**
 * The tag where the body is sent coded: other bytes must not have the same one (RFC 9110 §8.8.3.3). It stays strong, as `If-Match` wants
 * it (§13.1.1), and of the same form: the coding is one more letter of the hash.
 */
export function etagAs(coding: Coding | null, etag: string): string {
  return coding === null ? etag : `${etag.slice(0, -1)}${coding[0]}"`;
}

/**
 * The tag in `If-None-Match` by which the caller has this body already, in whichever coding (RFC 9110 §13.1.2); null where it has not.
 * @param etag of the body as it is
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

/** The version in an `If-Match` header; null for `*` or no header; -1, which no version equals, for a tag without a version. */
export function ifMatchVersion(header: string | null): number | null {
  if (header === null || header.trim() === '*') return null;
  const version = /^\s*(?:W\/)?"?(\d{1,15})(?:-[0-9a-z]+)?"?\s*$/.exec(header);
  return version ? Number(version[1]) : -1;
}
