// Extracts the path of a request without a URL object, which would cost more than reading the rest of the
// request.

/** Returns the path as sent, with its percent escapes and without the query. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const end = url.indexOf('?');
  return url.slice(start, end < 0 ? undefined : end);
}
