// Hostile targets at the API (docs/spec/webhooks.md › Addresses): registering or moving a webhook there is refused with
// the reason, and a name that resolves there after its registration is refused at every attempt. The canary gets no
// connection.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Json } from '../../app.ts';
import { startCanary, type Listener } from './canary.ts';
import { startHooks, startReceiver, type Hooks, type Receiver } from './receiver.ts';
import { HOSTILE_ADDRESSES, HOSTILE_URLS } from './ssrf-targets.ts';

/** Addresses to which every name resolves. */
let answers: string[] = ['1.1.1.1'];
let hooks: Hooks;
let canary: Listener;
let receiver: Receiver;

beforeAll(async () => {
  canary = await startCanary();
  receiver = startReceiver();
  hooks = await startHooks({
    flags: { egressAllow: '' },
    resolve: async () => answers.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  });
});
afterAll(async () => {
  expect([canary.connections, receiver.received.length]).toEqual([[], 0]);
  await hooks.app.stop();
  await canary.stop();
  await receiver.stop();
});

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);
const post = (url: string) => hooks.call('POST', '/api/v1/webhooks', { url, events: ['issue.created'] });

test('registering and moving a webhook to any hostile target is refused at its field', async () => {
  const from = await hooks.app.lastSequence();
  const { json: endpoint } = await post('https://hooks.example/');
  answers = ['127.0.0.1'];
  const targets = [
    ...HOSTILE_URLS.map((url) => url.replace('PORT', String(canary.port))),
    ...HOSTILE_ADDRESSES.map((address) => `https://${bracketed(address)}:${canary.port}/`),
  ];
  expect(targets.length).toBeGreaterThanOrEqual(120);
  for (const url of targets) {
    const moved = await hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { url });
    for (const { status, json } of [await post(url), moved]) {
      // A body with U+0000 is refused before validation.
      const unread = url.includes('\0');
      expect([url, status]).toEqual([url, unread ? 400 : 422]);
      if (!unread) expect([url, json.error.details[0].path]).toEqual([url, 'url']);
      expect(json.error.message.length).toBeGreaterThan(15);
    }
  }
  expect(await hooks.app.eventTypes(from)).toEqual(['webhook.created']);
  await hooks.call('DELETE', `/api/v1/webhooks/${endpoint.id}`);
});

test('a name that later resolves into any of these networks is refused at each attempt', async () => {
  answers = ['1.1.1.1'];
  const { json: endpoint } = await post(`https://hooks.example:${canary.port}/`);
  for (const address of HOSTILE_ADDRESSES) {
    // Alone, and after a valid address.
    answers = HOSTILE_ADDRESSES.indexOf(address) % 2 === 0 ? [address] : ['1.1.1.1', address];
    const { json: ping } = await hooks.call('POST', `/api/v1/webhooks/${endpoint.id}/ping`);
    await hooks.app.settled();
    const delivery: Json = await hooks.delivery(ping.id);
    const [attempt] = delivery.attemptList;
    expect([address, attempt.statusCode, attempt.error]).toEqual([
      address,
      null,
      expect.stringMatching(/^hooks\.example leads to /),
    ]);
    // Readers of the delivery log must not see internal DNS results.
    expect(JSON.stringify(attempt)).not.toContain(`"${address}"`);
    await hooks.call('POST', `/api/v1/deliveries/${ping.id}/cancel`);
  }
}, 60_000);

test("the server's own port is refused although the operator allowed its network", async () => {
  const local = await startHooks();
  const own = new URL(local.app.url);
  for (const url of [own.href, `http://localhost:${own.port}/`, `http://127.0.0.2:${own.port}/`]) {
    const { status, json } = await local.call('POST', '/api/v1/webhooks', { url, events: ['issue.created'] });
    expect([url, status, json.error?.details[0].path]).toEqual([url, 422, 'url']);
  }
  await local.app.stop();
});
