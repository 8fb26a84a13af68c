// Cookies of this server: for its own host alone, unread by scripts, and sent only over connections that nobody reads
// (RFC 6265bis §4.1.3.2: `__Host-`). Browsers count a loopback address as such a connection.

const prefix = '__Host-';

/** The value that a request sends under a name; null for none. */
export function cookieOf(headers: Headers, name: string): string | null {
  for (const pair of headers.get('cookie')?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (pair.slice(0, at).trim() === prefix + name) return pair.slice(at + 1).trim();
  }
  return null;
}

/** A `Set-Cookie` line. @param seconds how long the browser keeps it; 0 removes it */
export function cookieLine(name: string, value: string, seconds: number): string {
  return `${prefix}${name}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`;
}
