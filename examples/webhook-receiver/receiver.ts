// Request handling: raw body, signature, journal, response. The handler does nothing slow, because a sender
// waits at most 15 s and then retries.
import { verify, WebhookVerificationError, type WebhookEvent } from '@tatami/sdk/webhooks';
import type { Journal } from './journal.ts';

export interface ReceiverOptions {
  port: number;
  /** Two secrets during a rotation. */
  secrets: readonly string[];
  journal: Journal;
  /** Called once per event, after it is in the journal. */
  onEvent(event: WebhookEvent): void;
}

/** Twice the limit of a payload, 256 KiB. */
const bodyBytesMax = 512 * 1024;

export function startReceiver({ port, secrets, journal, onEvent }: ReceiverOptions) {
  return Bun.serve({
    port,
    hostname: '127.0.0.1',
    maxRequestBodySize: bodyBytesMax,
    async fetch(request) {
      if (request.method !== 'POST') return new Response('POST deliveries here.', { status: 405 });
      // The body is read before any parsing, because the signature covers these bytes.
      const body = await request.bytes();
      let event: WebhookEvent;
      try {
        event = await verify(body, request.headers.get('x-webhook-signature') ?? '', secrets);
      } catch (error) {
        if (!(error instanceof WebhookVerificationError)) throw error;
        console.error(`refused: ${error.message}`);
        return new Response(error.code, { status: 401 });
      }
      // Thrown errors become a 500, and the delivery is retried.
      const isNew = journal.add(event);
      if (isNew) onEvent(event);
      return new Response(isNew ? 'stored' : 'already known');
    },
  });
}
