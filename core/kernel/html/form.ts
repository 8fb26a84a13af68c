// Reads submitted forms, with a size limit, and only from pages of this server.
import { ApiError } from '../../platform/lib/errors/errors.ts';
import type { RawRequest } from '../http/route.ts';

const formBytesMax = 65_536;

/**
 * Returns the fields of a form that a page of this server sent. Browsers name the source of a form (`Sec-Fetch-Site`, W3C Fetch Metadata;
 * `Origin`, RFC 6454), and other sites cannot forge these headers, so that forms of other sites are rejected before they are read.
 * @param baseUrl of this server
 * @throws ApiError forbidden, unsupported_media_type, payload_too_large
 */
export async function readForm(request: RawRequest, baseUrl: string): Promise<URLSearchParams> {
  requireOwnPage(request, baseUrl);
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    throw new ApiError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.');
  return new URLSearchParams(new TextDecoder().decode(await request.read(formBytesMax)));
}

/** @throws ApiError forbidden for a request that no page of this server sent */
export function requireOwnPage(request: RawRequest, baseUrl: string): void {
  const { headers } = request;
  const site = headers.get('sec-fetch-site');
  const origin = headers.get('origin');
  // Our pages send no referrer, so browsers send `null` as their origin (WHATWG Fetch §3.1.7).
  const isOwnPage =
    site === 'same-origin'
      ? origin === 'null' || origin === originOf(baseUrl)
      : site === null && origin === originOf(baseUrl);
  // Under another host name of this server, browsers send `null` and `same-origin` as well, so the host is compared.
  const isOwn = isOwnPage && isAtOwnHost(request, baseUrl);
  if (!isOwn) throw new ApiError('forbidden', `Open ${baseUrl} in a browser and send the form there.`);
}

/** Returns true if a request names the host of the base URL. The port may be absent, as with `Host $host` in nginx. */
export function isAtOwnHost({ headers }: RawRequest, baseUrl: string): boolean {
  const own = new URL(baseUrl);
  const hostUrl = `${own.protocol}//${headers.get('host') ?? ''}`;
  if (!URL.canParse(hostUrl)) return false;
  const { hostname, port } = new URL(hostUrl);
  return hostname === own.hostname && (port === '' || port === own.port);
}

const originOf = (url: string): string => new URL(url).origin;
