// Entity tags (RFC 9110 §8.8.3), by which HTTP names the version of an object.

/** Strong validator: the version, compared by `If-Match`, and a hash of the body, compared by `If-None-Match`. */
export function etagOf(version: unknown, text: string): string {
  return `"${typeof version === 'number' ? version : 'h'}-${Bun.hash(text).toString(36)}"`;
}

/** The version in an `If-Match` header; null for `*` or no header; -1, which no version equals, for a tag without a version. */
export function ifMatchVersion(header: string | null): number | null {
  if (header === null || header.trim() === '*') return null;
  const version = /^\s*(?:W\/)?"?(\d{1,15})(?:-[0-9a-z]+)?"?\s*$/.exec(header);
  return version ? Number(version[1]) : -1;
}
