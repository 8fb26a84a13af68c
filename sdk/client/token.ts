/**
 * Credential of the caller: an API key, or a function called before each request that returns a current
 * access token. Errors of the function reach the caller; after a transient `ApiCallError`, such as
 * `unreachable`, the function is called again.
 */
export type Token = string | (() => string | Promise<string>);

export function tokenNow(token: Token): string | Promise<string> {
  return typeof token === 'string' ? token : token();
}
