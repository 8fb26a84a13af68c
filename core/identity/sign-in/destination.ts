// Validates the redirect target after a sign-in, to prevent open redirects.

/** Default target. */
const usualDestination = '/account';

const charsMax = 4_096;

/**
 * @param given parameter `to` of the request
 * @returns a path on this server with its query; the default for invalid input
 */
export function destinationOf(given: string | null, baseUrl: string): string {
  // Browsers treat a backslash as a slash and ignore tabs and line breaks: `/\evil` and `/<tab>/evil` name another host.
  if (given === null || given.length > charsMax || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(given))
    return usualDestination;
  const { origin } = new URL(baseUrl);
  if (!URL.canParse(given, origin)) return usualDestination;
  const url = new URL(given, origin);
  const path = url.pathname + url.search;
  return url.origin === origin && !path.startsWith('//') ? path : usualDestination;
}
