// Where a person is led once signed in: to a page of this server, whatever the link that brought them here says.

/** Where nothing else is said. */
const usualDestination = '/account';

const charsMax = 4_096;

/**
 * @param given `to` of the request
 * @returns a path of this server with its query; the usual one for everything else
 */
export function destinationOf(given: string | null, baseUrl: string): string {
  // Browsers take a backslash for a slash, and leave tabs and line ends out: `/\evil` and `/<tab>/evil` name another host.
  if (given === null || given.length > charsMax || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(given))
    return usualDestination;
  const { origin } = new URL(baseUrl);
  if (!URL.canParse(given, origin)) return usualDestination;
  const url = new URL(given, origin);
  const path = url.pathname + url.search;
  return url.origin === origin && !path.startsWith('//') ? path : usualDestination;
}
