// The protocol library speaks Node's HTTP; requests come as ours and answers go out as ours. It is shown the address that the
// operator gave, and never the Host header, so that nobody can make it name another.
import { toFetchResponse, toReqRes, type ReqRes } from 'fetch-to-node';
import type { Arrival, RawAnswer } from '../../http/route.ts';

const bodyBytesMax = 56 * 1024;

/** Which pages may call is decided at the door, for all of this server alike. */
const kept = (name: string): boolean => name !== 'origin' && name !== 'host';

/** @throws ApiError payload_too_large */
export async function exchangeOf(
  arrival: Arrival,
  baseUrl: string,
  query: URLSearchParams = arrival.query,
): Promise<ReqRes> {
  const { method, path, peer } = arrival;
  const { host, protocol } = new URL(baseUrl);
  const headers = new Headers([...arrival.headers].filter(([name]) => kept(name)));
  headers.set('host', host);
  const hasBody = method === 'POST' || method === 'PUT';
  const body = hasBody ? await arrival.read(bodyBytesMax) : null;
  if (body) headers.set('content-length', String(body.length));
  const search = query.size > 0 ? `?${query}` : '';
  const request = new Request(baseUrl + path + search, {
    method,
    headers,
    ...(body ? { body: new Uint8Array(body) } : {}),
  });
  const { req, res } = toReqRes(request);
  // There is no socket, and the library reads two things of it.
  const socket = { encrypted: protocol === 'https:', remoteAddress: peer };
  Object.defineProperty(req, 'socket', { value: socket });
  return { req, res };
}

/** What became of an exchange. @param hidden names of cookies that the browser is not to have */
export async function answerOf(res: ReqRes['res'], hidden: readonly string[]): Promise<RawAnswer> {
  const response = await toFetchResponse(res);
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of response.headers) if (!isOurs(name)) headers[name] = value;
  const cookies = response.headers
    .getSetCookie()
    .filter((line) => !hidden.some((name) => line.startsWith(`${name}=`) || line.startsWith(`${name}.sig=`)))
    // Browsers count a loopback address as a safe connection, and the library knows only https as one.
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
