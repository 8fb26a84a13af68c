// Protects the endpoint against DNS rebinding with checks of the Host and Origin headers.
import { isIP } from 'node:net';
import { ApiError } from '../lib/errors.ts';

export interface Hosts {
  readonly baseUrl: string;
  /** Origins whose pages may call the endpoint. `*` allows none here: each origin must be listed. */
  readonly corsOrigins: '*' | readonly string[];
}

/** @throws ApiError forbidden */
export function requireKnownHost(headers: Headers, { baseUrl, corsOrigins }: Hosts): void {
  const own = new URL(baseUrl);
  const host = hostnameOf(`http://${headers.get('host') ?? ''}`);
  if (host === null || !(host === own.hostname || isOfNobody(host)))
    throw new ApiError(
      'forbidden',
      `The host ${headers.get('host') ?? ''} is not the address of this server. Use ${own.host}, or ask the administrator to set --base-url.`,
    );
  const origin = headers.get('origin');
  if (origin === null || origin === own.origin || (corsOrigins !== '*' && corsOrigins.includes(origin)))
    return;
  const from = hostnameOf(origin);
  if (from !== null && isLoopback(from)) return;
  throw new ApiError(
    'forbidden',
    `Pages of ${origin} may not call this server. Ask the administrator to add the origin to --cors-origins.`,
  );
}

/**
 * Returns true for loopback names and IP addresses, which DNS rebinding cannot use, because they are not
 * resolved by DNS.
 */
function isOfNobody(hostname: string): boolean {
  return isLoopback(hostname) || isIP(hostname.replaceAll(/^\[|\]$/g, '')) !== 0;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

function hostnameOf(url: string): string | null {
  try {
    return new URL(url).hostname || null;
  } catch {
    return null;
  }
}
