// What forms send: read within a bound, and only from pages of this server.
import { ApiError } from '../lib/errors.ts';
import type { Arrival } from '../http/route.ts';

const formBytesMax = 65_536;

/**
 * The fields of a form that a page of this server sent. Browsers say where a form was (`Sec-Fetch-Site`, W3C Fetch Metadata;
 * `Origin`, RFC 6454), and pages elsewhere cannot change that: a form from elsewhere is refused before it is read.
 * @param baseUrl of this server
 * @throws ApiError forbidden, unsupported_media_type, payload_too_large
 */
export async function readForm(arrival: Arrival, baseUrl: string): Promise<URLSearchParams> {
  requireOwnPage(arrival, baseUrl);
  const type = arrival.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    throw new ApiError('unsupported_media_type', 'Send a form: application/x-www-form-urlencoded.');
  return new URLSearchParams(new TextDecoder().decode(await arrival.read(formBytesMax)));
}

/** @throws ApiError forbidden for what no page of this server sent */
export function requireOwnPage({ headers }: Pick<Arrival, 'headers'>, baseUrl: string): void {
  const site = headers.get('sec-fetch-site');
  const origin = headers.get('origin');
  // A page that sends no referrer sends `null` for its origin (WHATWG Fetch §3.1.7), as every page of ours does.
  const isOwnPage =
    site === 'same-origin'
      ? origin === 'null' || origin === originOf(baseUrl)
      : site === null && origin === originOf(baseUrl);
  // Under another name of this server `null` and `same-origin` are sent as well, and only the host tells them apart.
  const isOwn = isOwnPage && isAtOwnHost({ headers }, baseUrl);
  if (!isOwn) throw new ApiError('forbidden', `Open ${baseUrl} in a browser, and send this from there.`);
}

/** True for a request that names the host of the base URL. The port may be absent: `Host $host` in nginx leaves it out. */
export function isAtOwnHost({ headers }: Pick<Arrival, 'headers'>, baseUrl: string): boolean {
  const own = new URL(baseUrl);
  const given = `${own.protocol}//${headers.get('host') ?? ''}`;
  if (!URL.canParse(given)) return false;
  const { hostname, port } = new URL(given);
  return hostname === own.hostname && (port === '' || port === own.port);
}

const originOf = (url: string): string => new URL(url).origin;
