// A typical receiver: verifies each delivery with the SDK, responds with 401 if that fails, and stores each event
// once.
import { verify, type WebhookEvent } from '@tatami/sdk/webhooks';

export interface Receiver {
  readonly url: string;
  /** Received events by event id. A retried or replayed delivery is the same event. */
  readonly events: ReadonlyMap<string, WebhookEvent>;
  readonly refused: number;
  trust(secret: string): void;
  stop(): void;
}

export function startReceiver(): Receiver {
  const events = new Map<string, WebhookEvent>();
  let secret = '';
  let refused = 0;
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const payload = await request.text();
      try {
        const event = await verify(payload, request.headers.get('x-webhook-signature') ?? '', secret);
        events.set(event.id, event);
        return new Response(null, { status: 204 });
      } catch {
        if (request.headers.has('x-webhook-delivery')) refused++;
        return new Response('The signature does not match.', { status: 401 });
      }
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/hooks`,
    events,
    get refused() {
      return refused;
    },
    trust: (shared) => void (secret = shared),
    stop: () => void server.stop(true),
  };
}
