// Whom the endpoint answers: a page that had the name of its own server lead here (DNS rebinding) is told apart by the Host that its
// browser sends, and by its Origin.
import { isIP } from 'node:net';
import { ApiError } from '../lib/errors.ts';

export interface Hosts {
  readonly baseUrl: string;
  /** Whose pages may call from a browser: here, only those that are named. */
  readonly corsOrigins: '*' | readonly string[];
}

/** @throws ApiError forbidden */
export function requireKnownHost(headers: Headers, { baseUrl, corsOrigins }: Hosts): void {
  const own = new URL(baseUrl);
  const host = hostnameOf(`http://${headers.get('host') ?? ''}`);
  if (host === null || !(host === own.hostname || isOfNobody(host)))
    throw new ApiError(
      'forbidden',
      `This server is not called ${headers.get('host') ?? 'nothing'}. Use ${own.host}, or have its operator name the address with --base-url.`,
    );
  const origin = headers.get('origin');
  if (origin === null || origin === own.origin || (corsOrigins !== '*' && corsOrigins.includes(origin)))
    return;
  const from = hostnameOf(origin);
  if (from !== null && isLoopback(from)) return;
  throw new ApiError(
    'forbidden',
    `Pages of ${origin} may not call this server. Its operator names those that may with --cors-origins.`,
  );
}

/** What no stranger's name server answers for. */
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
