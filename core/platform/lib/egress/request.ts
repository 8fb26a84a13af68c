/**
 * Serializes a request so that it cannot contain a second one: header names and values are checked (RFC 9110
 * §5.5), and headers that frame or route a message cannot be set by callers.
 */
import { LRUCache } from 'lru-cache';
import { EgressError } from './error.ts';
import type { Target } from './target.ts';

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

/**
 * Returns the complete request as bytes, so that it is sent in one write.
 * @throws EgressError too_large, or bad_request naming the header
 */
export function requestBytes(request: {
  method: string;
  target: Target;
  headers: Record<string, string>;
  body: Uint8Array | string | undefined;
}): Uint8Array {
  const { method, target, body = '' } = request;
  const bodyBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  if (bodyBytes > REQUEST_BODY_BYTES_MAX)
    throw new EgressError(
      'too_large',
      `The request body exceeds ${REQUEST_BODY_BYTES_MAX} bytes. Send less data.`,
    );
  if (!TOKEN.test(method)) throw bad(`${JSON.stringify(method)} is not a method; use one such as POST`);
  let head = `${method} ${target.path} HTTP/1.1\r\nHost: ${target.authority}\r\n${checkedHeaders(request.headers)}`;
  head += 'Accept-Encoding: identity\r\nConnection: keep-alive\r\n';
  if (bodyBytes > 0 || (method !== 'GET' && method !== 'HEAD')) head += `Content-Length: ${bodyBytes}\r\n`;
  head += '\r\n';
  // The head is checked to be ASCII, so one character is one byte.
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
  bytes.write(head, 'latin1');
  if (typeof body === 'string') bytes.write(body, head.length, 'utf8');
  else bytes.set(body, head.length);
  return bytes;
}

/** Cache of valid header names: name → lower case. Callers send the same few. */
const passed = new LRUCache<string, string>({ max: 200 });

/** @throws EgressError bad_request */
function checkedName(name: string): string {
  const known = passed.get(name);
  if (known !== undefined) return known;
  const key = name.toLowerCase();
  if (!TOKEN.test(name))
    throw bad(`${JSON.stringify(name)} is not a header name; use letters, digits and hyphens`);
  if (OURS.has(key)) throw bad(`header ${key} is set by Tatami; leave it out`);
  passed.set(name, key);
  return key;
}

function checkedHeaders(requested: Record<string, string>): string {
  const seen = new Set<string>();
  let lines = '';
  for (const [name, value] of Object.entries(requested)) {
    const key = checkedName(name);
    if (!FIELD_VALUE.test(value))
      throw bad(`header ${key} contains line breaks or non-ASCII characters; encode its value`);
    if (seen.has(key)) throw bad(`header ${key} is given twice; give it once`);
    seen.add(key);
    lines += `${name}: ${value}\r\n`;
  }
  if (lines.length > HEADER_BYTES_MAX) throw bad(`headers exceed ${HEADER_BYTES_MAX} bytes; send fewer`);
  return lines;
}

function bad(reason: string): EgressError {
  return new EgressError('bad_request', `The request cannot be sent: ${reason}.`);
}
