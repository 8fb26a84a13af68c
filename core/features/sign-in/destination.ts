// Validates the redirect target after a sign-in, to prevent open redirects.

const usualDestination = '/account';

const charsMax = 4_096;

/**
 * @param requested parameter `to` of the request
 * @returns a path on this server with its query; `/account` for invalid input
 */
export function destinationOf(requested: string | null, baseUrl: string): string {
  // Browsers read a backslash as a slash and ignore tabs and line breaks, so `/\evil` and `/<tab>/evil` name
  // another host.
  if (requested === null || requested.length > charsMax || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(requested))
    return usualDestination;
  const { origin } = new URL(baseUrl);
  if (!URL.canParse(requested, origin)) return usualDestination;
  const url = new URL(requested, origin);
  const path = url.pathname + url.search;
  return url.origin === origin && !path.startsWith('//') ? path : usualDestination;
}
