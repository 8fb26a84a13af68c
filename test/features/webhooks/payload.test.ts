// A delivery contains the bytes of the feed, is reduced beyond its size limit, and has the trace context of its cause.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startHooks, startReceiver, type Hooks } from './receiver.ts';

const cap = 256 * 1024;
const receivers = [startReceiver(), startReceiver()] as const;
let hooks: Hooks;

beforeAll(async () => {
  hooks = await startHooks();
  for (const { url } of receivers) await hooks.register(url, { events: ['issue.*'] });
});
afterAll(async () => {
  await hooks.app.stop();
  for (const receiver of receivers) await receiver.stop();
});

async function delivered(what: () => Promise<unknown>) {
  for (const { received } of receivers) received.length = 0;
  await what();
  await hooks.app.settled();
  const [one, two] = receivers.map(({ received }) => received.at(-1)!);
  expect(two!.body).toBe(one!.body);
  return one!;
}

test('the bytes equal those of the feed at every endpoint, for any text', async () => {
  const title = 'Ünïcode 🎫 "quotes" </script> \\ and tabs';
  const description = 'Zeile \u2028\n'.repeat(50);
  const { body, event } = await delivered(() => hooks.file(title, { description }));
  expect(event.data).toMatchObject({ title, description });
  expect((await hooks.call('GET', `/api/v1/events/${event.id}`)).text).toBe(body);
});

test('an event over 256 KiB arrives with ids and a link in place of its data', async () => {
  const issue = await hooks.file('Long');
  const { body, event } = await delivered(() =>
    hooks.call('PATCH', `/api/v1/issues/${issue.id}`, { description: 'ä'.repeat(cap / 2 - 10) }),
  );
  expect(Buffer.byteLength(body)).toBeLessThan(2_000);
  expect(event).toMatchObject({ type: 'issue.updated', sequence: expect.any(Number) });
  expect(event.data).toEqual({
    id: issue.id,
    identifier: issue.identifier,
    url: issue.url,
    truncated: true,
    event: `${hooks.app.url}/api/v1/events/${event.id}`,
  });
  const whole = (await hooks.call('GET', new URL(event.data.event).pathname)).json;
  expect(whole).toMatchObject({ id: event.id, sequence: event.sequence });
  expect(whole.data.description.length).toBe(cap / 2 - 10);
});

test('the trace of the request that caused an event continues in its deliveries', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const traced = await delivered(() =>
    hooks.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Traced' }, { traceparent }),
  );
  expect(traced.headers.get('traceparent')).toBe(traceparent);
  expect((await delivered(() => hooks.file('Untraced'))).headers.get('traceparent')).toBeNull();
});

test('the sequence at a receiver of all events has no gap, which proves that the events are complete', async () => {
  const from = await hooks.app.lastSequence();
  const receiver = startReceiver();
  const endpoint = await hooks.register(receiver.url, { events: ['*'] });
  const path = `/api/v1/webhooks/${endpoint.id}`;
  const { id } = await hooks.file('One', { priority: 'low' });
  await hooks.call('PATCH', `/api/v1/issues/${id}`, { priority: 'high', labels: ['bug'] });
  await hooks.call('POST', `/api/v1/issues/${id}/comments`, { body: 'A comment' });
  await hooks.call('PATCH', path, { description: 'told of itself' });
  await hooks.call('POST', `${path}/rotate`, {});
  await hooks.call('POST', `${path}/ping`);
  await hooks.call('POST', '/api/v1/labels', { name: 'last' });
  await hooks.app.settled();
  const sequences = receiver.received.map(({ event }) => event.sequence).toSorted((a, b) => a - b);
  const to = await hooks.app.lastSequence();
  expect(sequences).toEqual(Array.from({ length: to - from }, (_, n) => from + 1 + n));
  await hooks.call('DELETE', path);
  await receiver.stop();
});
