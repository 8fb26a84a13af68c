// SQLite URIs of read-only connections, which neither write nor checkpoint, not even on the last close. The
// `readonly` option of libsql does not prevent that. https://sqlite.org/uri.html
import { statSync } from 'node:fs';

const escaped = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

export const readOnlyUri = (database: string): string => `file:${escaped(database)}?mode=ro`;

/** URI of a file that no process changes; ignores its log. */
export const immutableUri = (database: string): string => `file:${escaped(database)}?mode=ro&immutable=1`;

/** Returns a URI for inspection that creates no files beside a database that no process writes. */
export function uriToLook(database: string, isServed: boolean): string {
  const logBytes = statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  return isServed || logBytes > 0 ? readOnlyUri(database) : immutableUri(database);
}
