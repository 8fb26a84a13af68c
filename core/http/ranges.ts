// Sends a file with its entity tag, whole or as the one range that a request names (RFC 9110 §14).
import { ApiError } from '../lib/errors.ts';
import { knownTag } from './etag.ts';
import type { Exchange } from './exchange.ts';
import { respond, type HeaderBag } from './response.ts';

/** @throws ApiError range_not_satisfiable */
export function respondFile(
  request: Request,
  exchange: Exchange,
  file: Blob,
  headers: HeaderBag & { readonly etag: string },
): Response {
  const { etag } = headers;
  const { size } = file;
  headers['accept-ranges'] = 'bytes';
  if (knownTag(etag, request) !== null) return respond(exchange, 304, null, headers);
  const rangeHeader = request.method === 'GET' ? request.headers.get('range') : null;
  if (rangeHeader === null) return respond(exchange, 200, file, headers);
  const range = isOfThis(etag, request) ? rangeIn(rangeHeader, size) : null;
  if (range) {
    headers['content-range'] = `bytes ${range.start}-${range.end - 1}/${size}`;
    return respond(exchange, 206, file.slice(range.start, range.end), headers);
  }
  // Bun cuts a file by the Range of the request, even where If-Range forbids it, unless the response names a range. On a 200 the header has
  // no meaning (§14.4).
  headers['content-range'] = `bytes */${size}`;
  return respond(exchange, 200, file, headers);
}

/** True unless `If-Range` names another file. A date matches no file, because files have no modification time. */
function isOfThis(etag: string, { headers }: Request): boolean {
  const condition = headers.get('if-range');
  return condition === null || condition.trim() === etag;
}

interface ByteRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/**
 * @returns null for several ranges, other units and malformed ranges, which a server may ignore
 * @throws ApiError range_not_satisfiable
 */
function rangeIn(header: string, size: number): ByteRange | null {
  const [, first = '', last = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header) ?? [];
  if (first === '')
    return last === '' ? null : within({ start: Math.max(0, size - Number(last)), end: size }, size);
  const start = Number(first);
  if (last === '') return within({ start, end: size }, size);
  return Number(last) < start ? null : within({ start, end: Math.min(size, Number(last) + 1) }, size);
}

/** @throws ApiError range_not_satisfiable */
function within(range: ByteRange, size: number): ByteRange {
  if (range.start < range.end) return range;
  const message = `The file has ${size} bytes. Request a range within them, or omit the Range header.`;
  throw new ApiError('range_not_satisfiable', message, { headers: { 'content-range': `bytes */${size}` } });
}
