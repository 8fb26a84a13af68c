// A delivery under interference: its endpoint is changed, disabled or deleted, the clock is set back, or its name
// resolves elsewhere. With a real receiver on loopback; the clock and the resolver are fakes.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../app.ts';
import { startHooks, startReceiver, type Hooks, type Receiver } from './receiver.ts';

const hour = 3_600_000;
let addresses: Record<string, string> = {};
let hooks: Hooks;
let receiver: Receiver;
let endpoints: Json[] = [];

beforeAll(async () => {
  receiver = startReceiver();
  hooks = await startHooks({
    resolve: async (host) => [{ address: addresses[host] ?? '127.0.0.1', family: 4 }],
  });
});
afterAll(async () => {
  await hooks.app.stop();
  await receiver.stop();
});
afterEach(async () => {
  for (const { id } of endpoints) await hooks.call('DELETE', `/api/v1/webhooks/${id}`);
  await hooks.app.settled();
  endpoints = [];
  addresses = {};
  receiver.answer = () => new Response('thanks');
  receiver.received.length = 0;
});

async function register(more: object = {}): Promise<Json> {
  const endpoint = await hooks.register(receiver.url, { events: ['issue.created'], ...more });
  endpoints.push(endpoint);
  return endpoint;
}

const patch = (endpoint: Json, body: object) => hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, body);

/** The receiver responds once with `status`, after `meanwhile`. */
function answerAfter(meanwhile: () => Promise<unknown>, status: number): void {
  receiver.answer = async () => {
    receiver.answer = () => new Response();
    await meanwhile();
    return new Response(null, { status });
  };
}

test('a delivery is pending, delivering, retrying and delivered in turn, and each status filter finds it', async () => {
  const endpoint = await register();
  const seen: string[] = [];
  const note = async (): Promise<void> => {
    const [delivery] = await hooks.deliveries(endpoint);
    seen.push(delivery.status);
    for (const status of ['pending', 'delivering', 'retrying', 'delivered', 'failed', 'canceled'])
      expect((await hooks.deliveries(endpoint, `&status=${status}`)).length).toBe(
        status === delivery.status ? 1 : 0,
      );
  };
  answerAfter(note, 500);
  await hooks.file('One');
  await hooks.app.settled();
  await note();
  answerAfter(note, 204);
  hooks.app.clock.advance(6_000);
  await hooks.app.settled();
  await note();
  expect(seen).toEqual(['delivering', 'retrying', 'delivering', 'delivered']);
});

test('410 disables an endpoint also during concurrent changes, and its delivery ends', async () => {
  const endpoint = await register();
  answerAfter(() => patch(endpoint, { description: 'changed meanwhile' }), 410);
  await hooks.file('One');
  await hooks.app.settled();
  expect((await hooks.call('GET', `/api/v1/webhooks/${endpoint.id}`)).json).toMatchObject({
    enabled: false,
    description: 'changed meanwhile',
    disabledReason: 'The receiver answered 410 Gone.',
  });
  expect(await hooks.deliveries(endpoint)).toMatchObject([{ status: 'failed', attempts: 1 }]);
});

test('after its endpoint was disabled or deleted, a failed attempt is canceled and a successful one is delivered', async () => {
  for (const [status, end] of [
    [500, 'canceled'],
    [200, 'delivered'],
  ] as const) {
    const endpoint = await register();
    answerAfter(() => patch(endpoint, { enabled: false }), status);
    await hooks.file('One');
    await hooks.app.settled();
    expect(await hooks.deliveries(endpoint)).toMatchObject([
      { status: end, attempts: 1, nextAttemptAt: null },
    ]);
  }
  const endpoint = await register();
  receiver.answer = () => new Response(null, { status: 500 });
  await hooks.file('Two');
  await hooks.app.settled();
  const [{ id }] = await hooks.deliveries(endpoint);
  await hooks.call('DELETE', `/api/v1/webhooks/${endpoint.id}`);
  hooks.app.clock.advance(hour);
  await hooks.app.settled();
  expect(await hooks.delivery(id)).toMatchObject({ status: 'canceled', attempts: 1 });
});

test('a replay is a new delivery of the same event with the same bytes and a new signature', async () => {
  const endpoint = await register();
  await hooks.file('One');
  await hooks.app.settled();
  const [first] = await hooks.deliveries(endpoint);
  hooks.app.clock.advance(hour);
  const replay = await hooks.call('POST', `/api/v1/deliveries/${first.id}/replay`);
  expect(replay).toMatchObject({ status: 201, json: { status: 'pending', eventId: first.eventId } });
  expect(replay.headers.get('location')).toEndWith(`/api/v1/deliveries/${replay.json.id}`);
  await hooks.app.settled();
  const [one, two] = receiver.received;
  expect(two!.body).toBe(one!.body);
  const of = (name: string) => [one!.headers.get(name), two!.headers.get(name)];
  expect(of('x-webhook-delivery')).toEqual([first.id, replay.json.id]);
  expect(of('webhook-id')).toEqual([first.eventId, first.eventId]);
  const [before, after] = of('webhook-timestamp').map(Number);
  expect(after! - before!).toBe(3_600);
  expect(await hooks.delivery(replay.json.id)).toMatchObject({ status: 'delivered', attempts: 1 });

  await patch(endpoint, { enabled: false });
  const refused = await hooks.call('POST', `/api/v1/deliveries/${first.id}/replay`);
  expect(refused).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } });
});

test('an endpoint gets events after its registration and none before, also if the clock was set back', async () => {
  await hooks.file('before');
  await register();
  hooks.app.clock.advance(-hour);
  await hooks.file('after');
  await hooks.app.settled();
  hooks.app.clock.advance(hour);
  expect(receiver.received.map(({ event }) => event.data.title)).toEqual(['after']);
});

test('a name that later resolves to a private network is refused at each attempt', async () => {
  addresses = { 'hooks.example': '93.184.215.14' };
  const endpoint = await register({ url: 'https://hooks.example/' });
  addresses = { 'hooks.example': '10.0.0.1' };
  await hooks.file('One');
  await hooks.app.settled();
  const [delivery] = await hooks.deliveries(endpoint);
  expect(delivery).toMatchObject({ status: 'retrying', attempts: 1 });
  const [attempt] = (await hooks.delivery(delivery.id)).attemptList;
  expect(attempt.error).toContain('hooks.example leads to');
  expect(attempt.error).not.toContain('10.0.0.1');
});

test('ten consecutive failures limit an endpoint to one delivery at a time until a success', async () => {
  const endpoint = await register();
  receiver.answer = () => new Response(null, { status: 503 });
  for (let index = 0; index < 10; index++) await hooks.file(`Issue ${index}`);
  await hooks.app.settled();
  let inFlight = 0;
  let most = 0;
  receiver.answer = async () => {
    most = Math.max(most, ++inFlight);
    await Bun.sleep(5);
    inFlight--;
    return new Response(null, { status: 503 });
  };
  hooks.app.clock.advance(6_000);
  await hooks.app.settled();
  expect(receiver.received.length).toBe(20);
  expect(most).toBe(1);
  receiver.answer = () => new Response();
  hooks.app.clock.advance(hour);
  await hooks.app.settled();
  const all = await hooks.deliveries(endpoint);
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 'delivered'));
  most = 0;
  const full = Promise.withResolvers<void>();
  receiver.answer = async () => {
    most = Math.max(most, ++inFlight);
    // All free slots are taken at once, and a ninth attempt would have had time to arrive.
    if (inFlight === 8) {
      for (let reads = 0; reads < 20; reads++) await hooks.call('GET', '/healthz');
      full.resolve();
    }
    await full.promise;
    inFlight--;
    return new Response();
  };
  const issues = Array.from({ length: 20 }, (_, index) => ({ team: 'ENG', title: `More ${index}` }));
  await hooks.call('POST', '/api/v1/issues/bulk', { issues });
  await hooks.app.settled();
  expect(most).toBe(8);
});

test('the secret is in no file in clear text, including stored idempotent responses', async () => {
  const body = { url: receiver.url, events: ['issue.created'] };
  const key = { 'idempotency-key': 'register-once' };
  const first = await hooks.call('POST', '/api/v1/webhooks', body, key);
  const again = await hooks.call('POST', '/api/v1/webhooks', body, key);
  endpoints.push(first.json);
  expect(again.text).toBe(first.text);
  const text = first.json.secret.slice('whsec_'.length);
  const canaries = [Buffer.from(text), Buffer.from(text, 'base64'), Buffer.from(encodeURIComponent(text))];
  const files = readdirSync(hooks.app.dataDir)
    .filter((name) => !name.endsWith('.sock'))
    .map((name) => readFileSync(join(hooks.app.dataDir, name)));
  expect(files.length).toBeGreaterThan(2);
  for (const file of files) for (const canary of canaries) expect(file.includes(canary)).toBe(false);
});
