// Delivers to an address of the developer's machine exactly what the server would deliver: the same code makes the attempt,
// with the same headers, limits and refusal to follow redirects.
import { systemClock } from '../../../../platform/lib/time/clock.ts';
import { createEgress, resolveWithSystem } from '../../../../platform/lib/egress/egress.ts';
import { EgressError } from '../../../../platform/lib/egress/error.ts';
import { idPrefixes, createIds } from '../../../../platform/lib/ids.ts';
import { version } from '../../../version.ts';
import { attempt, type WebhookMessage } from '../../../../features/webhooks/offline.ts';
import { usage } from '../../lib/flags.ts';

export interface Forwarded {
  at: string;
  eventId: string;
  eventType: string;
  deliveryId: string;
  url: string;
  statusCode: number | null;
  latencyMs: number;
  error: string | null;
  worked: boolean;
}

export interface Forwarder {
  /** Null when `signal` cut it short. */
  forward(message: Omit<WebhookMessage, 'traceparent'>, signal?: AbortSignal): Promise<Forwarded | null>;
  close(): void;
}

/** @throws CommandError when the address, the value of `flag`, can be none of a receiver */
export async function createForwarder(flag: string, url: string, secret: string): Promise<Forwarder> {
  // The person who types an address may reach what this machine reaches: the guard is for addresses that tenants choose.
  const egress = createEgress({
    allow: ['0.0.0.0/0', '::/0'],
    ownPort: () => undefined,
    resolve: resolveWithSystem,
  });
  try {
    await egress.checkUrl(url);
  } catch (error) {
    if (error instanceof EgressError) throw usage(`${flag}: ${error.message}`, error);
    throw error;
  }
  const ids = createIds(systemClock.nowMs);
  return {
    async forward(message, signal = new AbortController().signal) {
      const deliveryId = ids.next(idPrefixes.delivery);
      const attempted = await attempt(
        { clock: systemClock, egress, version, signal },
        { id: deliveryId, number: 1, url, secrets: [secret] },
        { ...message, traceparent: null },
      );
      if (attempted === null) return null;
      const { at, statusCode, latencyMs, error } = attempted.record;
      return {
        at: new Date(at).toISOString(),
        eventId: message.eventId,
        eventType: message.type,
        deliveryId,
        url,
        statusCode,
        latencyMs: Math.round(latencyMs),
        error,
        worked: attempted.worked,
      };
    },
    close: egress.close,
  };
}
