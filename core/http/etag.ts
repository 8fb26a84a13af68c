// Entity tags (RFC 9110 §8.8.3), by which HTTP names the version of an object.

/** Strong validator: the version, compared by `If-Match`, and a hash of the body, compared by `If-None-Match`. */
export function etagOf(version: number | undefined, body: string | Uint8Array<ArrayBuffer>): string {
  return `"${version ?? 'h'}-${Bun.hash(body).toString(36)}"`;
}

/** The tag where the body is sent coded: other bytes must not have the same strong one (RFC 9110 §8.8.3.3). */
export function etagAs(coding: string | null, etag: string): string {
  return coding === null ? etag : `W/${etag}`;
}

/** Whether `If-None-Match` says that the caller has this already, in whichever coding (RFC 9110 §13.1.2). */
export function isKnown(etag: string, { headers }: Request): boolean {
  const known = headers.get('if-none-match');
  if (known === null) return false;
  return known.trim() === '*' || known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** The version in an `If-Match` header; null for `*` or no header; -1, which no version equals, for a tag without a version. */
export function ifMatchVersion(header: string | null): number | null {
  if (header === null || header.trim() === '*') return null;
  const version = /^\s*(?:W\/)?"?(\d{1,15})(?:-[0-9a-z]+)?"?\s*$/.exec(header);
  return version ? Number(version[1]) : -1;
}
