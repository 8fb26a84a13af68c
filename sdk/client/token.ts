/**
 * Credential of the caller: an API key, or a function called before each request that returns a current
 * access token. If the server rejects that token, the function is called once more with it, and the request is
 * repeated if another token comes back. Errors of the function reach the caller; after a transient
 * `ApiCallError`, such as `unreachable`, the function is called again.
 */
export type Token = string | ((rejected?: string) => string | Promise<string>);

/** @param rejected token that the server rejected */
export function tokenNow(token: Token, rejected?: string): string | Promise<string> {
  return typeof token === 'string' ? token : token(rejected);
}
