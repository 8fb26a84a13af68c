// Cookies with the prefix `__Host-` (RFC 6265bis §4.1.3.2): bound to the host, hidden from scripts, and sent
// only over secure connections, which in browsers include connections to loopback addresses.

const prefix = '__Host-';

/** Returns the value of a cookie in a request; null for none. */
export function cookieOf(headers: Headers, name: string): string | null {
  for (const pair of headers.get('cookie')?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (pair.slice(0, at).trim() === prefix + name) return pair.slice(at + 1).trim();
  }
  return null;
}

/** Returns a `Set-Cookie` line. @param seconds lifetime in the browser; 0 deletes the cookie */
export function cookieLine(name: string, value: string, seconds: number): string {
  return `${prefix}${name}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`;
}
