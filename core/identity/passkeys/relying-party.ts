// Whom passkeys are made for: the name of this server (Web Authentication Level 3 §5.1.2). Browsers make none for an address without one.
import { isIP } from 'node:net';

export interface RelyingParty {
  /** The host name. A passkey works for it alone: a server that moves to another name leaves its passkeys behind. */
  readonly id: string;
  readonly origin: string;
}

/** @returns null where browsers make no passkeys: for IP addresses, and over plain http but for localhost */
export function relyingPartyOf(baseUrl: string): RelyingParty | null {
  const { hostname, origin, protocol } = new URL(baseUrl);
  if (hostname.startsWith('[') || isIP(hostname) !== 0) return null;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  return protocol === 'https:' || isLocal ? { id: hostname, origin } : null;
}
