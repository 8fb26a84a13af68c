// How a database is named to SQLite where it is only to be read: such a connection neither writes nor folds in the log, not even as the
// last one that closes. (The `readonly` option of libsql is not that.) https://sqlite.org/uri.html
import { statSync } from 'node:fs';

const escaped = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

export const readOnlyUri = (database: string): string => `file:${escaped(database)}?mode=ro`;

/** Of a file that nobody changes, without its log. */
export const immutableUri = (database: string): string => `file:${escaped(database)}?mode=ro&immutable=1`;

/** Makes nothing beside the file where nobody writes it. */
export function uriToLook(database: string, isServed: boolean): string {
  const logBytes = statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  return isServed || logBytes > 0 ? readOnlyUri(database) : immutableUri(database);
}
