// WebAuthn relying party: the host name of this server (Web Authentication Level 3 §5.1.2).
import { isIP } from 'node:net';

export interface RelyingParty {
  /**
   * Host name. Passkeys work only for this name, so they stop working when the server moves to another one.
   */
  readonly id: string;
  readonly origin: string;
}

/**
 * @returns null at addresses for which browsers do not support passkeys: IP addresses, and http except for
 * localhost
 */
export function relyingPartyOf(baseUrl: string): RelyingParty | null {
  const { hostname, origin, protocol } = new URL(baseUrl);
  if (hostname.startsWith('[') || isIP(hostname) !== 0) return null;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  return protocol === 'https:' || isLocal ? { id: hostname, origin } : null;
}
