/** What proves who calls: an API key, or a function that is asked before each request, for access tokens, which end and are renewed. */
export type Token = string | (() => string | Promise<string>);

/** The token as it is at this moment. */
export function tokenNow(token: Token): string | Promise<string> {
  return typeof token === 'string' ? token : token();
}
