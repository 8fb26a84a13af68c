// One delivery attempt: sends a signed POST through the egress guard, and records request and response.
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Egress, EgressResponse } from '../../platform/lib/egress/egress.ts';
import { EgressError } from '../../platform/lib/egress/error.ts';
import type { DeliveryAttempt } from './deliveries/rows.ts';
import type { WebhookMessage } from './payload.ts';
import { signatureHeaders } from './signature.ts';

export const attemptLimits = {
  connectTimeoutMs: 5_000,
  totalTimeoutMs: 15_000,
  responseBytesMax: 64 * 1024,
};

export interface Attempted {
  readonly record: DeliveryAttempt;
  readonly response: EgressResponse | null;
  readonly worked: boolean;
}

interface Attempting {
  readonly clock: Clock;
  readonly egress: Egress;
  readonly version: string;
  readonly signal: AbortSignal;
}

interface Attemptable {
  readonly id: string;
  readonly number: number;
  readonly url: string;
  readonly secrets: readonly string[];
}

/** Returns null if `signal` aborted it; an aborted attempt does not count. */
export async function attempt(
  { clock, egress, version, signal }: Attempting,
  delivery: Attemptable,
  message: WebhookMessage,
): Promise<Attempted | null> {
  const at = clock.nowMs();
  const requestHeaders = attemptHeaders(delivery, message, at, version);
  const sent = { number: delivery.number, at, requestHeaders };
  const started = performance.now();
  try {
    const response = await egress.send({
      url: delivery.url,
      method: 'POST',
      headers: requestHeaders,
      body: message.payload,
      signal,
      ...attemptLimits,
    });
    return answered(sent, response);
  } catch (failure) {
    if (!(failure instanceof EgressError)) throw failure;
    if (signal.aborted) return null;
    return unanswered(sent, failure, performance.now() - started);
  }
}

type SentAttempt = Pick<DeliveryAttempt, 'number' | 'at' | 'requestHeaders'>;

function answered(sent: SentAttempt, response: EgressResponse): Attempted {
  const error = failureOf(response.status);
  const record: DeliveryAttempt = {
    ...sent,
    latencyMs: response.latencyMs,
    statusCode: response.status,
    error,
    responseHeaders: response.headers,
    responseBody: response.body,
    truncated: response.truncated,
  };
  return { record, response, worked: error === null };
}

function unanswered(sent: SentAttempt, failure: EgressError, latencyMs: number): Attempted {
  const record: DeliveryAttempt = {
    ...sent,
    latencyMs,
    statusCode: null,
    error: failure.message,
    responseHeaders: null,
    responseBody: null,
    truncated: false,
  };
  return { record, response: null, worked: false };
}

export function attemptHeaders(
  delivery: { id: string; secrets: readonly string[] },
  message: WebhookMessage,
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
