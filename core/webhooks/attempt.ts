// One attempt at a delivery: a signed POST through the egress guard, and the record of what was sent and what came back.
import type { Clock } from '../lib/clock.ts';
import type { Egress, EgressResponse } from '../lib/egress/egress.ts';
import { EgressError } from '../lib/egress/error.ts';
import type { Attempt } from './deliveries/rows.ts';
import type { Message } from './payload.ts';
import { signatureHeaders } from './signature.ts';

export const attemptLimits = {
  connectTimeoutMs: 5_000,
  totalTimeoutMs: 15_000,
  responseBytesMax: 64 * 1024,
};

export interface Attempted {
  readonly record: Attempt;
  readonly response: EgressResponse | null;
  readonly worked: boolean;
}

/** Null when `signal` cut it short: it then counts as never made. */
export async function attempt(
  { clock, egress, version, signal }: { clock: Clock; egress: Egress; version: string; signal: AbortSignal },
  delivery: { id: string; number: number; url: string; secrets: readonly string[] },
  message: Message,
): Promise<Attempted | null> {
  const at = clock.nowMs();
  const headers = attemptHeaders(delivery, message, at, version);
  const started = performance.now();
  let response: EgressResponse | null = null;
  let error: string | null = null;
  try {
    response = await egress.send({
      url: delivery.url,
      method: 'POST',
      headers,
      body: message.payload,
      signal,
      ...attemptLimits,
    });
    error = failureOf(response.status);
  } catch (failure) {
    if (!(failure instanceof EgressError)) throw failure;
    if (signal.aborted) return null;
    error = failure.message;
  }
  const record: Attempt = {
    number: delivery.number,
    at,
    latencyMs: response?.latencyMs ?? performance.now() - started,
    statusCode: response?.status ?? null,
    error,
    requestHeaders: headers,
    responseHeaders: response?.headers ?? null,
    responseBody: response?.body ?? null,
    truncated: response?.truncated ?? false,
  };
  return { record, response, worked: error === null };
}

export function attemptHeaders(
  delivery: { id: string; secrets: readonly string[] },
  message: Message,
  nowMs: number,
  version: string,
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': `Tatami-Webhooks/${version}`,
    'X-Webhook-Event': message.type,
    ...signatureHeaders({
      secrets: delivery.secrets,
      payload: message.payload,
      timestampSeconds: Math.floor(nowMs / 1000),
      deliveryId: delivery.id,
      eventId: message.eventId,
    }),
    ...(message.traceparent === null ? {} : { traceparent: message.traceparent }),
  };
}

function failureOf(status: number): string | null {
  if (status >= 200 && status <= 299) return null;
  const redirect = status >= 300 && status <= 399;
  return `The receiver answered ${status}${redirect ? '; redirects are not followed' : ''}.`;
}
