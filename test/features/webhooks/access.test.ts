// An endpoint receives only events that its creator may read, also after a change of its address and in the delivery
// log.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startHooks, startReceiver, type Hooks } from './receiver.ts';

const receiver = startReceiver();
let hooks: Hooks;

beforeAll(async () => {
  hooks = await startHooks();
});
afterAll(async () => {
  await hooks.app.stop();
  await receiver.stop();
});

const refused = { status: 403, json: { error: { code: 'insufficient_scope' } } };

test('a token without issues:read cannot redirect an issue subscription to another address', async () => {
  const endpoint = await hooks.register(receiver.url);
  const narrow = hooks.app.clientOf(await hooks.app.mintKey(['webhooks:write']));
  const path = `/api/v1/webhooks/${endpoint.id}`;
  expect(await narrow('PATCH', path, { url: `${receiver.url}/mine` })).toMatchObject(refused);
  expect(await narrow('PATCH', path, { events: ['issue.created'] })).toMatchObject(refused);
  expect(await narrow('PATCH', path, { filter: { priority: 'urgent' } })).toMatchObject(refused);
  expect((await narrow('PATCH', path, { enabled: false })).status).toBe(200);
  expect(await narrow('PATCH', path, { enabled: true })).toMatchObject(refused);
  expect((await hooks.call('DELETE', path)).status).toBe(204);
});

test('the delivery log shows payloads only to callers with read access to the event', async () => {
  const endpoint = await hooks.register(receiver.url, { events: ['issue.created'] });
  await hooks.file('Secret plans');
  await hooks.app.settled();
  const [delivery] = await hooks.deliveries(endpoint);
  const narrow = hooks.app.clientOf(await hooks.app.mintKey(['webhooks:write']));
  const [masked, missing] = await Promise.all([
    narrow('GET', `/api/v1/deliveries/${delivery.id}`),
    narrow('GET', `/api/v1/deliveries/dlv_${'0'.repeat(25)}1`),
  ]);
  expect([masked.status, missing.status]).toEqual([404, 404]);
  expect(masked.json.error.message).toBe(missing.json.error.message);
  expect((await hooks.delivery(delivery.id)).payload).toContain('Secret plans');
  expect((await hooks.call('DELETE', `/api/v1/webhooks/${endpoint.id}`)).status).toBe(204);
});

test('a filter that does not apply to a subscribed type is refused, without effect on other endpoints', async () => {
  const filter = { priority: ['urgent'] };
  for (const events of [['*'], ['issue.*', 'comment.added']])
    expect(await hooks.call('POST', '/api/v1/webhooks', { url: receiver.url, events, filter })).toMatchObject(
      {
        status: 422,
        json: { error: { details: [{ path: 'filter.priority', issue: 'unknown_field' }] } },
      },
    );
  const endpoint = await hooks.register(receiver.url, { filter });
  expect(await hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { events: ['*'] })).toMatchObject({
    status: 422,
  });
  const before = receiver.received.length;
  await hooks.file('urgent', { priority: 'urgent' });
  await hooks.app.settled();
  expect(receiver.received.length).toBe(before + 1);
});
