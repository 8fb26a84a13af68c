// The request side: the raw body, the signature, the journal, the answer. Nothing slow: a sender waits at most 15 s, and what
// it did not hear within them it sends again.
import { verify, WebhookVerificationError, type WebhookEvent } from '@tatami/sdk/webhooks';
import type { Journal } from './journal.ts';

export interface ReceiverOptions {
  port: number;
  /** Two while a secret is being rotated. */
  secrets: readonly string[];
  journal: Journal;
  /** Hears of each event once, when it is in the journal. */
  onEvent(event: WebhookEvent): void;
}

/** A payload is at most 256 KiB. */
const bodyBytesMax = 512 * 1024;

export function startReceiver({ port, secrets, journal, onEvent }: ReceiverOptions) {
  return Bun.serve({
    port,
    hostname: '127.0.0.1',
    maxRequestBodySize: bodyBytesMax,
    async fetch(request) {
      if (request.method !== 'POST') return new Response('POST deliveries here.', { status: 405 });
      // Before any parsing: what is signed are these bytes.
      const body = await request.bytes();
      let event: WebhookEvent;
      try {
        event = await verify(body, request.headers.get('x-webhook-signature') ?? '', secrets);
      } catch (error) {
        if (!(error instanceof WebhookVerificationError)) throw error;
        console.error(`refused: ${error.message}`);
        return new Response(error.code, { status: 401 });
      }
      // Thrown errors become a 500, and the delivery comes again.
      const isNew = journal.add(event);
      if (isNew) onEvent(event);
      return new Response(isNew ? 'taken in' : 'known already');
    },
  });
}
