// What a receiver that was away for longer than deliveries are retried has missed is in the feed: the same events, with the same ids.
import { createClient } from '@tatami/sdk/client';
import type { WebhookEvent } from '@tatami/sdk/webhooks';
import type { Journal } from './journal.ts';

export async function catchUp(
  journal: Journal,
  { server, token, events }: { server: string; token: string; events: string },
  onEvent: (event: WebhookEvent) => void,
): Promise<void> {
  const call = createClient({ server, token });
  for (let after: string | null = String(journal.readUpTo); after !== null;) {
    const query = new URLSearchParams({ types: events, after, limit: '100' });
    const page: { data: WebhookEvent[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } } =
      await call('GET', `/events?${query}`);
    for (const event of page.data) if (journal.add(event)) onEvent(event);
    const last = page.data.at(-1);
    if (last) journal.markReadUpTo(last.sequence);
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  }
}
