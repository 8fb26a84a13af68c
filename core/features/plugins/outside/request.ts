// Parses a guest's request from untrusted JSON.
import { netMethods } from '../../../../sdk/plugin/manifest.ts';
import { CallError } from '../host-calls/gateway-call.ts';

const bodyBytesMax = 256 * 1024;
const headersMax = 50;

export interface GuestRequest {
  readonly method: (typeof netMethods)[number];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** @throws CallError validation_failed, quota_exceeded */
export function readRequest(input: unknown): GuestRequest {
  const { url, method = 'GET', headers = {}, body = null } = objectOf(input);
  if (typeof url !== 'string') throw invalid('The URL must be a string.');
  const known = netMethods.find((one) => one === method);
  if (!known) throw invalid(`The method must be one of ${netMethods.join(', ')}.`);
  return { method: known, url, headers: headersOf(headers), body: bodyOf(known, body) };
}

function bodyOf(method: GuestRequest['method'], body: unknown): string | null {
  if (body === null) return null;
  if (typeof body !== 'string') throw invalid('The body must be a string.');
  if (method === 'GET' || method === 'HEAD')
    throw invalid(`A ${method} request cannot have a body. Remove the body, or use another method.`);
  if (Buffer.byteLength(body) > bodyBytesMax)
    throw new CallError(
      'quota_exceeded',
      `The body of a request can have at most ${bodyBytesMax} bytes. Send less data per request.`,
    );
  return body;
}

function headersOf(input: unknown): Record<string, string> {
  const entries = Object.entries(objectOf(input));
  if (entries.length > headersMax)
    throw invalid(`A request can have at most ${headersMax} headers. Remove some of them.`);
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of entries) {
    if (typeof value !== 'string') throw invalid('Header values must be strings.');
    headers[name] = value;
  }
  return headers;
}

function objectOf(value: unknown): Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw invalid('The request and its headers must be objects.');
  return value as Record<string, unknown>;
}

function invalid(message: string): CallError {
  return new CallError('validation_failed', message);
}
