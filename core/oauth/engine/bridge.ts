// Converts requests and responses to Node's HTTP objects for the protocol library. The library gets the host
// of the base URL instead of the Host header, so that a client cannot change the URLs in responses.
import { toFetchResponse, toReqRes, type ReqRes } from 'fetch-to-node';
import type { RawRequest, RawAnswer } from '../../http/route.ts';

const bodyBytesMax = 56 * 1024;

/** Excludes `Origin`, because the HTTP layer handles CORS for all routes. */
const isForwarded = (name: string): boolean => name !== 'origin' && name !== 'host';

/** @throws ApiError payload_too_large */
export async function exchangeOf(
  rawRequest: RawRequest,
  baseUrl: string,
  query: URLSearchParams = rawRequest.query,
): Promise<ReqRes> {
  const { method, path, peer } = rawRequest;
  const { host, protocol } = new URL(baseUrl);
  const headers = new Headers([...rawRequest.headers].filter(([name]) => isForwarded(name)));
  headers.set('host', host);
  const hasBody = method === 'POST' || method === 'PUT';
  const body = hasBody ? await rawRequest.read(bodyBytesMax) : null;
  if (body) headers.set('content-length', String(body.length));
  const search = query.size > 0 ? `?${query}` : '';
  const request = new Request(baseUrl + path + search, {
    method,
    headers,
    ...(body ? { body: new Uint8Array(body) } : {}),
  });
  const { req, res } = toReqRes(request);
  // There is no real socket; the library reads only these two properties.
  const socket = { encrypted: protocol === 'https:', remoteAddress: peer };
  Object.defineProperty(req, 'socket', { value: socket });
  return { req, res };
}

/**
 * Converts the response of the library.
 * @param hidden names of cookies to remove
 */
export async function answerOf(res: ReqRes['res'], hidden: readonly string[]): Promise<RawAnswer> {
  const response = await toFetchResponse(res);
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of response.headers) if (!isOurs(name)) headers[name] = value;
  const cookies = response.headers
    .getSetCookie()
    .filter((line) => !hidden.some((name) => line.startsWith(`${name}=`) || line.startsWith(`${name}.sig=`)))
    // Browsers accept `Secure` cookies from loopback addresses, but the library sets the attribute only for
    // https.
    .map((line) => (/; *secure/i.test(line) ? line : `${line}; secure`));
  if (cookies.length > 0) headers['set-cookie'] = cookies;
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? 'text/plain; charset=utf-8',
    headers,
    body: new Uint8Array(await response.arrayBuffer()),
  };
}

function isOurs(name: string): boolean {
  return (
    ['set-cookie', 'content-type', 'content-length', 'transfer-encoding', 'connection'].includes(name) ||
    name.startsWith('access-control-')
  );
}
