// Webhook deliveries through the API: signatures that independent verifiers accept, retries at fixed times, no loss,
// and no request to a forbidden address. With a real receiver on loopback; only the clock is a fake.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { verify } from '../../../sdk/webhooks/index.ts';
import { stripeVerifier } from './stripe.ts';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';

const hour = 3_600_000;

interface Received {
  headers: Headers;
  body: string;
}

let app: TestApp;
let call: Client;
let team: string;
let teams = 0;
let received: Received[];
/** Next responses of the receiver; 200 when empty. */
let answers: (() => Response | Promise<Response>)[];

const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    received.push({ headers: request.headers, body: await request.text() });
    return (answers.shift() ?? (() => new Response('thanks')))();
  },
});
const url = `http://127.0.0.1:${receiver.port}/hooks`;

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});
beforeEach(async () => {
  received = [];
  answers = [];
  team = `W${++teams}`;
  call = app.clientOf((await app.addWorkspace(`Hooks ${teams}`, team)).apiKey);
});

async function register(more: object = {}): Promise<Json> {
  const { status, json } = await call('POST', '/api/v1/webhooks', { url, events: ['issue.*'], ...more });
  expect(status).toBe(201);
  return json;
}

async function file(title = 'One', more: object = {}): Promise<Json> {
  return (await call('POST', '/api/v1/issues', { team, title, ...more })).json;
}

async function deliveries(endpoint: Json): Promise<Json[]> {
  return (await call('GET', `/api/v1/webhooks/${endpoint.id}/deliveries`)).json.data;
}

test('an event arrives with the bytes of the feed, and Stripe, Standard Webhooks and the SDK verify it', async () => {
  const endpoint = await register();
  expect(Object.keys(endpoint)).toEqual(['id', 'url', 'events', 'enabled', 'secret']);
  const issue = await file();
  await app.settled();
  const [delivery] = received;
  expect(received.length).toBe(1);
  const { body, headers } = delivery!;
  const signature = headers.get('x-webhook-signature')!;
  const nowSeconds = Math.floor(app.clock.now() / 1000);

  expect(signature).toMatch(/^v1=[0-9a-f]{64},t=\d{10}$/);
  expect(headers.get('x-webhook-event')).toBe('issue.created');
  expect(headers.get('x-webhook-delivery')).toMatch(/^dlv_/);
  expect(headers.get('user-agent')).toMatch(/^Tatami-Webhooks\/\d/);
  const event = JSON.parse(body);
  expect(event.data).toMatchObject({
    id: issue.id,
    identifier: `${team}-1`,
    title: 'One',
    priority: 'none',
    url: issue.url,
  });
  expect((await call('GET', `/api/v1/events/${event.id}`)).json).toEqual(event);

  expect(await verify(body, signature, endpoint.secret, { nowSeconds })).toEqual(event);
  const stripe = await stripeVerifier();
  expect(stripe.constructEvent(body, signature, endpoint.secret, 300, undefined, nowSeconds * 1000).id).toBe(
    event.id,
  );
  expect(() =>
    stripe.constructEvent(`${body} `, signature, endpoint.secret, 300, undefined, nowSeconds * 1000),
  ).toThrow();
  const standard = new Webhook(endpoint.secret);
  const realNow = Date.now;
  Date.now = app.clock.now;
  try {
    expect(standard.verify(body, Object.fromEntries(headers))).toMatchObject({ id: event.id });
  } finally {
    Date.now = realNow;
  }
  expect(await deliveries(endpoint)).toMatchObject([{ status: 'delivered', attempts: 1, eventId: event.id }]);
  const detail = (await call('GET', `/api/v1/deliveries/${headers.get('x-webhook-delivery')}`)).json;
  expect(detail).toMatchObject({
    payload: body,
    attemptList: [{ number: 1, statusCode: 200, error: null, responseBody: 'thanks' }],
  });
});

test('only subscribed events that match the filter are delivered, within their workspace', async () => {
  await register({ events: ['issue.created'], filter: { priority: ['urgent', 'high'] } });
  await register({ events: ['comment.added'] });
  const issue = await file('low', { priority: 'low' });
  await file('urgent', { priority: 'urgent' });
  await call('POST', `/api/v1/issues/${issue.id}/comments`, { body: 'hello' });
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'elsewhere', priority: 'urgent' });
  await app.settled();
  expect(
    received
      .map(({ body }) => JSON.parse(body))
      .map(({ type, data }) => [type, data.title ?? data.body])
      .sort(),
  ).toEqual([
    ['comment.added', 'hello'],
    ['issue.created', 'urgent'],
  ]);
});

test('a failing delivery is attempted at 0, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 24 h, then parked', async () => {
  const endpoint = await register();
  answers = Array.from({ length: 20 }, () => () => new Response('no', { status: 500 }));
  const start = app.clock.now();
  await file();
  await app.settled();
  const times: number[] = [];
  for (let guard = 0; guard < 20; guard++) {
    times.push(app.clock.now() - start);
    const [delivery] = await deliveries(endpoint);
    if (delivery.nextAttemptAt === null) break;
    expect(delivery.status).toBe('retrying');
    app.clock.advance(Date.parse(delivery.nextAttemptAt) - app.clock.now());
    await app.settled();
  }
  const [delivery] = await deliveries(endpoint);
  expect(delivery).toMatchObject({ status: 'failed', attempts: 8 });
  const wanted = [0, 5_000, 300_000, 1_800_000, 2 * hour, 5 * hour, 10 * hour, 24 * hour];
  expect(received.length).toBe(8);
  times.forEach((time, index) => {
    expect(time).toBeGreaterThanOrEqual(wanted[index]!);
    expect(time).toBeLessThanOrEqual(index === 7 ? 24 * hour : wanted[index]! * 1.1);
  });
  expect(new Set(received.map(({ headers }) => headers.get('x-webhook-delivery'))).size).toBe(1);
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  const detail = (await call('GET', `/api/v1/deliveries/${delivery.id}`)).json;
  expect(detail.attemptList.every((attempt: Json) => attempt.error === 'The receiver answered 500.')).toBe(
    true,
  );
});

test('Retry-After delays the next attempt', async () => {
  const endpoint = await register();
  answers = [() => new Response(null, { status: 503, headers: { 'retry-after': '600' } })];
  const start = app.clock.now();
  await file();
  await app.settled();
  const [delivery] = await deliveries(endpoint);
  expect(Date.parse(delivery.nextAttemptAt) - start).toBe(600_000);
  app.clock.advance(600_000);
  await app.settled();
  expect((await deliveries(endpoint))[0]).toMatchObject({ status: 'delivered', attempts: 2 });
});

test('410 disables the endpoint at once with an event, and enabling it again delivers new events', async () => {
  const endpoint = await register();
  answers = [() => new Response(null, { status: 410 })];
  await file();
  await app.settled();
  expect((await call('GET', `/api/v1/webhooks/${endpoint.id}`)).json).toMatchObject({
    enabled: false,
    disabledReason: 'The receiver answered 410 Gone.',
  });
  await file('while off');
  await app.settled();
  expect(received.length).toBe(1);
  const types = (await call('GET', '/api/v1/events?types=webhook.*')).json.data.map((event: Json) => [
    event.type,
    event.actor.kind,
  ]);
  expect(types).toEqual([
    ['webhook.created', 'api_key'],
    ['webhook.disabled', 'system'],
  ]);
  expect((await call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled: true })).json).toMatchObject({
    enabled: true,
    disabledReason: null,
  });
  await file('on again');
  await app.settled();
  expect(received.map(({ body }) => JSON.parse(body).data.title)).toEqual(['One', 'on again']);
});

test('an endpoint that fails for 120 hours without a success is disabled', async () => {
  const endpoint = await register();
  for (let day = 0; day < 7; day++) {
    answers = Array.from({ length: 50 }, () => () => new Response(null, { status: 500 }));
    await file(`day ${day}`);
    for (let step = 0; step < 24; step++) {
      await app.settled();
      app.clock.advance(hour);
    }
    await app.settled();
  }
  expect((await call('GET', `/api/v1/webhooks/${endpoint.id}`)).json).toMatchObject({
    enabled: false,
    disabledReason: 'All deliveries have failed for 120 hours.',
  });
});

test('a redirect is a failure and is not followed', async () => {
  let followed = 0;
  const canary = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => (followed++, new Response()) });
  const endpoint = await register();
  answers = [() => Response.redirect(`http://127.0.0.1:${canary.port}/`, 307)];
  await file();
  await app.settled();
  await canary.stop(true);
  expect(followed).toBe(0);
  expect((await deliveries(endpoint))[0]).toMatchObject({ status: 'retrying' });
});

test("registration refuses plain http outside the allow-list, private addresses, the server's own port, unknown types and missing scopes", async () => {
  const refused = async (body: object, path: string): Promise<void> => {
    const { status, json } = await call('POST', '/api/v1/webhooks', { url, events: ['issue.*'], ...body });
    expect(status).toBe(422);
    expect(json.error.details[0].path).toBe(path);
  };
  await refused({ url: 'http://example.com/hooks' }, 'url');
  await refused({ url: 'https://10.0.0.1/hooks' }, 'url');
  await refused({ url: 'https://[::ffff:169.254.169.254]/' }, 'url');
  await refused({ url: `http://127.0.0.1:${new URL(app.url).port}/api/v1/issues` }, 'url');
  await refused({ url: 'not a url' }, 'url');
  await refused({ events: ['issue.exploded'] }, 'events.0');
  await refused({ filter: { colour: 'red' } }, 'filter.colour');
  const { json } = await call('POST', '/api/v1/api-keys', {
    name: 'narrow',
    scopes: ['webhooks:write', 'issues:read'],
  });
  const narrow = app.clientOf(json.key);
  expect((await narrow('POST', '/api/v1/webhooks', { url, events: ['issue.*'] })).status).toBe(201);
  expect(await narrow('POST', '/api/v1/webhooks', { url, events: ['*'] })).toMatchObject({
    status: 403,
    json: { error: { code: 'insufficient_scope' } },
  });
});

test('a hanging endpoint does not delay another', async () => {
  const hanging: (() => void)[] = [];
  const tarpit = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Promise<Response>((resolve) => hanging.push(() => resolve(new Response()))),
  });
  await register({ url: `http://127.0.0.1:${tarpit.port}/` });
  await register();
  for (let i = 0; i < 60; i++) await file(`Issue ${i}`);
  while (received.length < 60) await Bun.sleep(5);
  expect(hanging.length).toBe(8);
  for (const release of hanging) release();
  while (hanging.length < 60) {
    await Bun.sleep(1);
    for (const release of hanging) release();
  }
  await app.settled();
  await tarpit.stop(true);
});

test('more deliveries than an endpoint can queue in memory all arrive', async () => {
  await register();
  for (let bulk = 0; bulk < 5; bulk++) {
    const issues = Array.from({ length: 100 }, (_, index) => ({ team, title: `Issue ${bulk}-${index}` }));
    expect((await call('POST', '/api/v1/issues/bulk', { issues })).status).toBe(201);
  }
  await app.settled();
  expect(new Set(received.map(({ body }) => JSON.parse(body).id)).size).toBe(500);
  expect(received.length).toBe(500);
});

test('the signing secret is never in clear text in the database, responses, events or log', async () => {
  const { id, secret } = await register({ events: ['*'] });
  await file();
  await app.settled();
  const parts = [secret, secret.slice('whsec_'.length)];
  const output = JSON.stringify([
    (await call('GET', '/api/v1/webhooks')).json,
    (await call('GET', `/api/v1/webhooks/${id}`)).json,
    (await call('GET', '/api/v1/events?limit=100')).json,
    (await call('GET', `/api/v1/webhooks/${id}/deliveries`)).json,
    app.logs,
    received.map(({ body, headers }) => [body, ...headers]),
  ]);
  const files = readdirSync(app.dataDir)
    .filter((name) => !name.endsWith('.sock'))
    .map((name) => readFileSync(join(app.dataDir, name)).toString('latin1'));
  for (const part of parts) {
    expect(output.includes(part)).toBe(false);
    for (const content of files) expect(content.includes(part)).toBe(false);
  }
});

test('a restart during deliveries loses none', async () => {
  const own = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  answers = Array.from({ length: 5 }, () => () => new Response(null, { status: 500 }));
  await own.call('POST', '/api/v1/webhooks', { url, events: ['issue.created'] });
  for (let i = 0; i < 20; i++) await own.call('POST', '/api/v1/issues', { team: 'ENG', title: `Issue ${i}` });
  const again = await own.restart();
  again.clock.advance(hour);
  await again.settled();
  const arrived = new Set(received.map(({ body }) => JSON.parse(body).data.title));
  expect(arrived.size).toBe(20);
  await again.stop();
});
