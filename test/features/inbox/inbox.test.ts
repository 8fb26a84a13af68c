// The inbox contains actions of the system from the event log, and no actions of people.
import { expect, test } from 'bun:test';
import type { Json } from '../../app.ts';
import { hooksOfFile } from '../webhooks/receiver.ts';

const { hooks, receiver } = await hooksOfFile();

const now = (): string => new Date(hooks.app.clock.now()).toISOString();
const inbox = async (query = ''): Promise<Json> => (await hooks.call('GET', `/api/v1/inbox${query}`)).json;

async function gone(path: string): Promise<Json> {
  receiver.answer = () => new Response(null, { status: 410 });
  const endpoint = await hooks.register(`${receiver.url}/${path}`, { events: ['issue.created'] });
  await hooks.file('One');
  await hooks.app.settled();
  return endpoint;
}

test('an endpoint that the system disabled appears in the inbox in the same commit', async () => {
  const from = await hooks.app.lastSequence();
  const endpoint = await gone('token-in-the-path');
  expect((await hooks.app.eventTypes(from)).slice(-2)).toEqual(['webhook.disabled', 'inbox.item_created']);
  const { data } = await inbox();
  expect(data).toEqual([
    {
      id: expect.stringMatching(/^inb_/),
      kind: 'webhook_disabled',
      title: `The webhook to ${new URL(receiver.url).host} was disabled`,
      body: expect.stringContaining('The receiver answered 410 Gone.'),
      target: { kind: 'webhook', id: endpoint.id },
      member: { id: hooks.app.workspace.userId, name: 'Acme owner' },
      reason: 'webhook',
      issue: null,
      actor: null,
      count: 1,
      happenedAt: now(),
      readAt: null,
      archivedAt: null,
      snoozedUntil: null,
      version: 1,
      createdAt: now(),
      updatedAt: now(),
    },
  ]);
  const events = (await hooks.call('GET', `/api/v1/events?after=${from}&types=inbox.*`)).json.data;
  expect([events.length, events[0].data, events[0].actor.kind]).toEqual([1, data[0], 'system']);
  // Inbox readers may lack the scope for webhooks.
  expect(JSON.stringify(data)).not.toContain('token-in-the-path');
});

test('an endpoint that a person disabled does not appear in the inbox', async () => {
  const before = await inbox();
  const endpoint = await hooks.register(receiver.url, { events: ['issue.created'] });
  await hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled: false });
  expect(await inbox()).toEqual(before);
});

test('the inbox is paged, newest first, for callers with the scope', async () => {
  for (let n = 0; n < 3; n++) await gone(String(n));
  const all = (await inbox()).data;
  expect(all.length).toBe(4);
  expect(all.map(({ id }: Json) => id)).toEqual(
    all
      .map(({ id }: Json) => id)
      .toSorted()
      .toReversed(),
  );
  const paged: Json[] = [];
  for (let after = ''; ;) {
    const page = await inbox(`?limit=3${after}`);
    paged.push(...page.data);
    if (!page.pageInfo.hasNextPage) break;
    after = `&after=${page.pageInfo.endCursor}`;
  }
  expect(paged).toEqual(all);
  const { data: feed } = (await hooks.call('GET', '/api/v1/events?types=inbox.*')).json;
  expect(feed.map(({ data }: Json) => data).toReversed()).toEqual(all);
  const other = await hooks.app.addWorkspace('Other', 'OTH');
  expect((await hooks.app.clientOf(other.apiKey)('GET', '/api/v1/inbox')).json.data).toEqual([]);
  const narrow = hooks.app.clientOf(await hooks.app.mintKey(['webhooks:read']));
  expect((await narrow('GET', '/api/v1/inbox')).json.error.code).toBe('insufficient_scope');
});
