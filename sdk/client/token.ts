/**
 * What proves who calls: an API key, or a function that is asked before each request, for access tokens, which end and are renewed.
 * What it throws is thrown to the caller; an `ApiCallError` that may pass, such as `unreachable`, has it asked again.
 */
export type Token = string | (() => string | Promise<string>);

/** The token as it is at this moment. */
export function tokenNow(token: Token): string | Promise<string> {
  return typeof token === 'string' ? token : token();
}
