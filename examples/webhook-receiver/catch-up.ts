// Reads missed events from the feed. The feed has the same events with the same ids, so no event is lost in
// an outage longer than the retries of deliveries.
import { createClient } from '@tatami/sdk/client';
import type { WebhookEvent } from '@tatami/sdk/webhooks';
import type { Journal } from './journal.ts';

export async function catchUp(
  journal: Journal,
  { server, token, events }: { server: string; token: string; events: string },
  onEvent: (event: WebhookEvent) => void,
): Promise<void> {
  const client = createClient({ server, token });
  for (let after: string | null = String(journal.readUpTo); after !== null;) {
    const { data, pageInfo } = await client.events.list({ types: events, after, limit: 100 });
    for (const event of data) if (journal.add(event)) onEvent(event);
    const last = data.at(-1);
    if (last) journal.markReadUpTo(last.sequence);
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  }
}
