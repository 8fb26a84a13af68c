// Path of a request, cut from its URL: creating a URL object for each request would cost more than reading everything else.

/** Returns the path as sent, with its percent escapes and without the query. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const end = url.indexOf('?');
  return url.slice(start, end < 0 ? undefined : end);
}
