// The path of a request, cut out of its URL: making a URL object for each request would cost more than all else that is read.

/** The path as it was sent, percent escapes included, without the query. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const end = url.indexOf('?');
  return url.slice(start, end < 0 ? undefined : end);
}
