// Converts requests and responses of the HTTP layer to the `Request` and `Response` of the SDK.
import type * as Sdk from '@modelcontextprotocol/server';
import type { ExemptConnection } from '../http/outflow.ts';
import type { RawRequest, RawAnswer } from '../http/route.ts';
import { mayWait, type Body } from './messages.ts';
import type { McpSubscription } from './subscriptions.ts';

export const bodyBytesMax = 1024 * 1024;
const keepAliveMs = 15_000;

interface Carried {
  readonly baseUrl: string;
  readonly rawRequest: Pick<RawRequest, 'method' | 'path' | 'headers' | 'holdOpen'>;
  readonly bytes: Uint8Array;
  readonly body: Body;
  /** Null for a request without a subscription. */
  readonly subscription: McpSubscription | null;
}

export async function carry(
  { createMcpHandler }: typeof Sdk,
  makeServer: Sdk.McpServerFactory,
  { baseUrl, rawRequest, bytes, body, subscription }: Carried,
): Promise<RawAnswer> {
  const connection = mayWait(body) ? rawRequest.holdOpen() : null;
  const handler = createMcpHandler(makeServer, {
    // Subscriptions send their own heartbeats.
    keepAliveMs: subscription ? 0 : keepAliveMs,
    maxRequestBodySize: bodyBytesMax,
    ...(subscription ? { bus: subscription.bus } : {}),
  });
  const { method, headers, path } = rawRequest;
  const request = new Request(`${baseUrl}${path}`, {
    method,
    headers,
    ...(method === 'POST' ? { body: new Uint8Array(bytes) } : {}),
    ...(subscription ? { signal: subscription.signal } : {}),
  });
  const response = await handler.fetch(request, body.parsed === undefined ? {} : { parsedBody: body.parsed });
  return rawOf(response, subscription, connection);
}

const ownHeaders = new Set(['content-type', 'content-length', 'cache-control', 'connection']);

async function rawOf(
  { status, headers, body }: Response,
  subscription: McpSubscription | null,
  connection: ExemptConnection | null,
): Promise<RawAnswer> {
  const contentType = headers.get('content-type') ?? 'application/json';
  const others = Object.fromEntries([...headers].filter(([name]) => !ownHeaders.has(name)));
  const answered = { status, contentType, headers: others };
  if (body && contentType.startsWith('text/event-stream'))
    return { ...answered, body: subscription ? subscription.body(body) : ending(body, connection) };
  subscription?.end();
  const text = body ? await new Response(body).text() : '';
  connection?.letGo();
  return { ...answered, body: text };
}

/** Releases the long-lived connection at the end of the stream. */
function ending(
  stream: ReadableStream<Uint8Array>,
  connection: ExemptConnection | null,
): ReadableStream<Uint8Array> {
  if (!connection) return stream;
  return stream.pipeThrough(new TransformStream({ flush: () => connection.letGo() }));
}
