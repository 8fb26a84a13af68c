/**
 * Makes sure that what we send is one request and no more: header names and values are checked (RFC 9110 §5.5), and the
 * headers that frame or route a message belong to this door alone, as a caller's own could smuggle a second request.
 */
import { EgressError } from './error.ts';

const REQUEST_BODY_BYTES_MAX = 1024 * 1024;
const HEADER_BYTES_MAX = 32 * 1024;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;
const OURS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'proxy-authorization',
  'proxy-connection',
  'accept-encoding',
]);

/** @throws EgressError too_large */
export function prepareBody(body: Uint8Array | string | undefined): Uint8Array {
  const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array());
  if (bytes.byteLength > REQUEST_BODY_BYTES_MAX) {
    throw new EgressError('too_large', `The request body is over ${REQUEST_BODY_BYTES_MAX} bytes.`);
  }
  return bytes;
}

/** @throws EgressError bad_request, naming the header. */
export function prepareHeaders(
  asked: Record<string, string>,
  authority: string,
  method: string,
  body: Uint8Array,
): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  let bytes = 0;
  for (const [name, value] of Object.entries(asked)) {
    const key = name.toLowerCase();
    if (!TOKEN.test(name)) throw bad(`${JSON.stringify(name)} is no header name`);
    if (!FIELD_VALUE.test(value)) throw bad(`header ${key} holds line breaks or non-ASCII characters`);
    if (OURS.has(key)) throw bad(`header ${key} is set by the sender and cannot be chosen`);
    if (key in headers) throw bad(`header ${key} is given twice`);
    bytes += name.length + value.length + 4;
    headers[key] = value;
  }
  if (bytes > HEADER_BYTES_MAX) throw bad(`headers are over ${HEADER_BYTES_MAX} bytes`);
  headers.host = authority;
  headers['accept-encoding'] = 'identity';
  if (body.byteLength > 0 || (method !== 'GET' && method !== 'HEAD'))
    headers['content-length'] = String(body.byteLength);
  return headers;
}

function bad(reason: string): EgressError {
  return new EgressError('bad_request', `The request cannot be sent: ${reason}.`);
}
