// A replay sends a range of the log or all events since a time again, each as a new delivery with the same id and
// bytes, in the background and across crashes.
import { afterEach, expect, test } from 'bun:test';
import type { Json } from '../../app.ts';
import { hooksOfFile, startHooks } from './receiver.ts';

const hour = 3_600_000;
const { hooks, receiver } = await hooksOfFile();
let endpoint: Json;
afterEach(async () => {
  await hooks.call('DELETE', `/api/v1/webhooks/${endpoint.id}`);
  await hooks.app.settled();
  receiver.received.length = 0;
  receiver.answer = () => new Response();
});

const register = async (more: object = {}): Promise<void> => {
  endpoint = await hooks.register(receiver.url, { events: ['issue.created'], ...more });
};
const now = (): string => new Date(hooks.app.clock.now()).toISOString();
const ask = (body: object, at = endpoint) => hooks.call('POST', `/api/v1/webhooks/${at.id}/replays`, body);
const titles = (): string[] => receiver.received.map(({ event }) => event.data.title).toSorted();

/** Replays, waits, and returns the finished replay with the titles that arrived. */
async function replay(body: object): Promise<{ ended: Json; got: string[] }> {
  receiver.received.length = 0;
  const { status, json, headers } = await ask(body);
  expect([status, json.status]).toEqual([202, 'running']);
  expect(headers.get('location')).toEndWith(`/api/v1/replays/${json.id}`);
  await hooks.app.settled();
  const { json: ended } = await hooks.call('GET', `/api/v1/replays/${json.id}`);
  expect([ended.status, ended.deliveries]).toEqual(['done', receiver.received.length]);
  return { ended, got: titles() };
}

test('a replay of a range or since a time sends the same events and bytes as new deliveries with new signatures', async () => {
  await register();
  const moments: string[] = [];
  for (const title of ['one', 'two', 'three']) {
    moments.push(now());
    await hooks.file(title);
    await hooks.app.settled();
    hooks.app.clock.advance(hour);
  }
  const before = [...receiver.received];
  const { got } = await replay({ since: moments[1] });
  expect(got).toEqual(['three', 'two']);
  for (const again of receiver.received) {
    const first = before.find(({ event }) => event.id === again.event.id)!;
    expect(again.body).toBe(first.body);
    expect(again.headers.get('webhook-id')).toBe(first.headers.get('webhook-id'));
    expect(again.headers.get('x-webhook-delivery')).not.toBe(first.headers.get('x-webhook-delivery'));
    expect(again.headers.get('x-webhook-signature')).not.toBe(first.headers.get('x-webhook-signature'));
  }
  expect((await replay({ since: moments[1], until: moments[2] })).got).toEqual(['two']);
  expect((await replay({ since: now() })).got).toEqual([]);
  const sequence = before[0]!.event.sequence;
  expect((await replay({ afterSequence: sequence })).got).toEqual(['three', 'two']);
  expect((await hooks.deliveries(endpoint, '&origin=replay')).length).toBe(5);
  expect(
    (await hooks.deliveries(endpoint, `&eventId=${before[2]!.event.id}`)).map(({ origin }) => origin),
  ).toEqual(['replay', 'replay', 'event']);
});

test('`undelivered` sends each failed, canceled or unsent event once', async () => {
  await register();
  const since = now();
  receiver.answer = ({ event }) => new Response(null, { status: event.data.title === 'failed' ? 500 : 200 });
  await hooks.file('worked');
  await hooks.file('failed');
  await hooks.app.settled();
  const [retrying] = await hooks.deliveries(endpoint, '&status=retrying');
  expect((await replay({ since, only: 'undelivered' })).got).toEqual([]);
  await hooks.call('POST', `/api/v1/deliveries/${retrying.id}/cancel`);
  await hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled: false });
  await hooks.file('while it was off');
  await hooks.app.settled();
  await hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled: true });
  receiver.answer = () => new Response();
  expect((await replay({ since, only: 'undelivered' })).got).toEqual(['failed', 'while it was off']);
  expect((await replay({ since, only: 'undelivered' })).got).toEqual([]);
});

test('the current filter and subscription apply, also to events before the registration', async () => {
  endpoint = { id: 'whe_none' };
  const from = await hooks.app.lastSequence();
  await hooks.file('early urgent', { priority: 'urgent' });
  await hooks.file('early low', { priority: 'low' });
  await register({ filter: { priority: ['urgent'] } });
  expect((await replay({ afterSequence: from })).got).toEqual(['early urgent']);
});

test('a replay shows its requested start and its progress', async () => {
  await register();
  const [from, since] = [await hooks.app.lastSequence(), now()];
  await hooks.file('asked for');
  await hooks.app.settled();
  const end = await hooks.app.lastSequence();
  for (const body of [{ afterSequence: from }, { since }]) {
    const { json: started } = await ask(body);
    expect([started.currentSequence, started.lastSequence]).toEqual([started.afterSequence, end]);
    await hooks.app.settled();
    const { json: ended } = await hooks.call('GET', `/api/v1/replays/${started.id}`);
    const { status, afterSequence, currentSequence } = ended;
    expect([status, afterSequence, currentSequence]).toEqual(['done', started.afterSequence, end]);
    const [listed] = (await hooks.call('GET', `/api/v1/webhooks/${endpoint.id}/replays`)).json.data;
    expect(listed).toEqual(ended);
  }
  const { json: first } = await ask({ afterSequence: from });
  expect(first.afterSequence).toBe(from);
});

test('thousands of events are replayed in the background in log order, and canceling stops the rest', async () => {
  await register({ events: ['issue.*'] });
  const from = await hooks.app.lastSequence();
  for (let n = 0; n < 12; n++)
    await hooks.call('POST', '/api/v1/issues/bulk', {
      issues: Array.from({ length: 100 }, (_, i) => ({ team: 'ENG', title: `bulk ${n * 100 + i}` })),
    });
  await hooks.app.settled();
  receiver.received.length = 0;
  const { ended } = await replay({ afterSequence: from });
  expect(ended.deliveries).toBe(1_200);
  expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(1_200);
  const { json: running } = await ask({ afterSequence: from });
  const { status, json: canceled } = await hooks.call('POST', `/api/v1/replays/${running.id}/cancel`);
  await hooks.app.settled();
  const { json: last } = await hooks.call('GET', `/api/v1/replays/${running.id}`);
  if (status === 200) {
    expect([canceled.status, last.status]).toEqual(['canceled', 'canceled']);
    expect(last.deliveries).toBeLessThan(1_200);
  } else expect([status, last.status]).toEqual([409, 'done']);
  expect((await hooks.call('POST', `/api/v1/replays/${running.id}/cancel`)).json.error.code).toBe('conflict');
}, 60_000);

test('a replay continues after a restart', async () => {
  const local = await startHooks();
  endpoint = { id: 'whe_none' };
  for (let n = 0; n < 10; n++)
    await local.call('POST', '/api/v1/issues/bulk', {
      issues: Array.from({ length: 100 }, (_, i) => ({ team: 'ENG', title: `bulk ${n * 100 + i}` })),
    });
  const registered = await local.register(receiver.url, { events: ['issue.created'] });
  const { json } = await local.call('POST', `/api/v1/webhooks/${registered.id}/replays`, {
    afterSequence: 0,
  });
  const again = await local.app.restart();
  await again.settled();
  const { json: ended } = await again.call('GET', `/api/v1/replays/${json.id}`);
  expect([ended.status, ended.deliveries]).toEqual(['done', 1_000]);
  expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(1_000);
  const deliveries = new Set(receiver.received.map(({ headers }) => headers.get('x-webhook-delivery')));
  expect(deliveries.size).toBe(1_000);
  await again.stop();
}, 60_000);

test('an invalid replay is refused with an instruction', async () => {
  await register();
  const end = await hooks.app.lastSequence();
  const later = new Date(hooks.app.clock.now() + hour).toISOString();
  for (const [body, path, issue] of [
    [{}, 'since', 'required'],
    [{ since: now(), afterSequence: 1 }, 'since', 'conflict'],
    [{ since: 'yesterday' }, 'since', 'invalid_format'],
    [{ since: now(), until: '2020-01-01' }, 'until', 'too_small'],
    [{ afterSequence: -1 }, 'afterSequence', 'too_small'],
    [{ since: now(), only: 'failed' }, 'only', 'invalid_enum'],
    [{ afterSequence: end + 1 }, 'afterSequence', 'too_big'],
    [{ since: later }, 'since', 'too_big'],
    [{ since: later, until: later }, 'since', 'too_big'],
  ] as const) {
    const { status, json } = await ask(body);
    expect([status, json.error.details]).toMatchObject([422, [{ path, issue }]]);
  }
  expect((await replay({ afterSequence: end, until: later })).got).toEqual([]);
  const key = await hooks.app.mintKey(['webhooks:write']);
  const refused = await hooks.app.clientOf(key)('POST', `/api/v1/webhooks/${endpoint.id}/replays`, {
    since: now(),
  });
  expect([refused.status, refused.json.error.code]).toEqual([403, 'insufficient_scope']);
  expect(refused.json.error.message).toContain('issues:read');
  await hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled: false });
  expect((await ask({ since: now() })).json.error.code).toBe('conflict');
});
