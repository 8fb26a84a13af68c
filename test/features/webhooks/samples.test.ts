// Pings and samples test a receiver without a real event, with requests that are signed, retried, shown and replayed
// like any other.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { Compile } from 'typebox/compile';
import { contracts, eventsOf } from '../../../core/features/contracts.ts';
import { sentEvents } from '../../../core/app/event-schemas.ts';
import { sampleData } from '../../../core/features/webhooks/sampling.ts';
import { samples } from '../../../core/app/features.ts';
import { verify } from '../../../sdk/webhooks/index.ts';
import type { Json } from '../../app.ts';
import { startHooks, startReceiver, type Hooks, type Receiver } from './receiver.ts';

/** Common fields of all objects, and a field that comes from the schema. */
const ofAll = ['version', 'createdAt', 'updatedAt', 'deletedAt', 'payloadVersion'];

let hooks: Hooks;
let receiver: Receiver;
let endpoint: Json;

beforeAll(async () => {
  receiver = startReceiver();
  hooks = await startHooks();
  endpoint = await hooks.register(receiver.url, { events: ['comment.added'] });
});
afterAll(async () => {
  await hooks.app.stop();
  await receiver.stop();
});
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answer = () => new Response();
});

const post = (path: string, body?: object, headers?: Record<string, string>) =>
  hooks.call('POST', `/api/v1/webhooks/${endpoint.id}${path}`, body, headers);
const sample = (body: object) => post('/samples', body);

test('a ping is an event of the log, and reaches its endpoint under any subscription', async () => {
  const from = await hooks.app.lastSequence();
  const all = await hooks.register(receiver.url, { events: ['*'] });
  await hooks.app.settled();
  // The endpoint received the event of its own registration.
  expect(receiver.received.splice(0).map(({ event }) => event.data.id)).toEqual([all.id]);
  const { status, json: delivery } = await post('/ping');
  expect([status, delivery]).toMatchObject([
    201,
    { webhookId: endpoint.id, eventType: 'webhook.ping', origin: 'ping', status: 'pending' },
  ]);
  await hooks.app.settled();
  expect(await hooks.app.eventTypes(from)).toEqual(['webhook.created', 'webhook.ping']);
  const { data } = (await hooks.call('GET', `/api/v1/events?after=${from}&types=webhook.ping`)).json;
  expect(data[0]).toMatchObject({ id: delivery.eventId, data: { id: endpoint.id, url: receiver.url } });
  expect(receiver.received.map(({ body }) => body)).toEqual(Array(2).fill(JSON.stringify(data[0])));
  expect(await hooks.delivery(delivery.id)).toMatchObject({ status: 'delivered', attempts: 1 });
  expect((await hooks.deliveries(endpoint)).length).toBe(1);
  await hooks.call('DELETE', `/api/v1/webhooks/${all.id}`);
});

test('a simulated ping has no effect, and a ping of a disabled endpoint is refused', async () => {
  const from = await hooks.app.lastSequence();
  expect((await post('/ping', undefined, { 'tatami-mode': 'simulate' })).status).toBe(201);
  await hooks.app.settled();
  expect([receiver.received.length, await hooks.app.eventTypes(from)]).toEqual([0, []]);
  await hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled: false });
  expect((await post('/ping')).json.error.code).toBe('conflict');
  expect((await sample({ type: 'issue.created' })).json.error.code).toBe('conflict');
  await hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled: true });
});

test('a sample of every emitted type arrives, verifies and matches the document', async () => {
  for (const { type, envelope } of sentEvents()) {
    receiver.received.length = 0;
    const { status, json, text } = await sample({ type });
    expect([type, status, status === 201 ? '' : text]).toEqual([type, 201, '']);
    await hooks.app.settled();
    const [{ body, headers, event }] = receiver.received as [(typeof receiver.received)[0]];
    expect([type, [...Compile(envelope).Errors(event)]]).toEqual([type, []]);
    expect([headers.get('x-webhook-event'), event.id, event.sequence]).toEqual([type, json.eventId, 0]);
    const verified = await verify(body, headers.get('x-webhook-signature')!, endpoint.secret, {
      nowSeconds: hooks.app.clock.now() / 1000,
    });
    expect(verified.type).toBe(type);
  }
});

test('samples have realistic people, states and texts, and changes have previous values', () => {
  const setting = { nowMs: hooks.app.clock.now(), baseUrl: 'https://tatami.acme.example' };
  const { objects, moments } = samples(setting);
  const fix = 'write it into the samples of its feature';
  for (const sent of sentEvents()) {
    const data = sampleData(sent, setting, samples) as Json;
    // Fields that are returned only on request are in no event.
    const { required, properties } = (sent.envelope as Json).properties.data;
    const contract = contracts.find(({ events }) => eventsOf(events).includes(sent.type));
    // Without an entry in the story, samples use the examples of the resource.
    if (!objects[sent.type] && !objects[contract?.name ?? '']) continue;
    const unsaid = required.filter((name: string) => !(name in data) && !ofAll.includes(name));
    expect([sent.type, unsaid], fix).toEqual([sent.type, []]);
    expect(JSON.stringify(data)).not.toMatch(/sample(?!e0)|lorem|string/);
    if (!('previous' in data)) continue;
    const before = Object.entries(moments[sent.type]?.previous ?? {}).filter(([name]) => name in properties);
    expect([sent.type, Object.entries(data.previous)]).toEqual([sent.type, before]);
    if (!/deleted|restored|removed/.test(sent.type)) expect([sent.type, before.length], fix).not.toContain(0);
    for (const [name, value] of before) expect([sent.type, data[name]]).not.toEqual([sent.type, value]);
  }
});

test('a sample changes nothing: it is in no feed, history or audit log, reaches no other subscriber, and cannot be read as an event', async () => {
  const before = (await hooks.call('GET', '/api/v1/audit-log?limit=100')).text;
  const from = await hooks.app.lastSequence();
  const other = await hooks.register(receiver.url, { events: ['*'] });
  const { json } = await sample({ type: 'issue.created' });
  await hooks.app.settled();
  expect(receiver.received.map(({ event }) => event.type).toSorted()).toEqual([
    'issue.created',
    'webhook.created',
  ]);
  expect(await hooks.app.eventTypes(from)).toEqual(['webhook.created']);
  expect((await hooks.call('GET', `/api/v1/events/${json.eventId}`)).status).toBe(404);
  const { event } = receiver.received.find(({ event }) => event.type === 'issue.created')!;
  expect((await hooks.call('GET', `/api/v1/issues/${event.data.id}`)).status).toBe(404);
  await hooks.call('DELETE', `/api/v1/webhooks/${other.id}`);
  const after = (await hooks.call('GET', '/api/v1/audit-log?limit=100')).json.data.map(
    ({ action }: Json) => action,
  );
  expect(after.slice(0, 2)).toEqual(['webhook.deleted', 'webhook.created']);
  expect(before).not.toContain(json.eventId);
});

test('fields of a sample can be set within the limits of its type', async () => {
  await sample({ type: 'issue.created', data: { priority: 'urgent', title: 'Mine' } });
  await hooks.app.settled();
  expect(receiver.received[0]!.event.data).toMatchObject({ priority: 'urgent', title: 'Mine' });
  for (const [body, path, issue] of [
    [{ type: 'issue.created', data: { priority: 'huge' } }, 'data.priority', 'invalid_enum'],
    [{ type: 'issue.created', data: { colour: 'red' } }, 'data.colour', 'unknown_field'],
    [{ type: 'issue.exploded' }, 'type', 'invalid_enum'],
    [{ type: 'release.shipped' }, 'type', 'invalid_enum'],
    [{ type: 'issue.created', data: { description: 'x'.repeat(262_000) } }, 'data', 'too_long'],
    [{}, 'type', 'required'],
  ] as const) {
    const { status, json } = await sample(body);
    expect([status, json.error.details[0]]).toMatchObject([422, { path, issue }]);
  }
});

test('a sample is retried, shown with its bytes, and replayed as a new delivery of the same bytes', async () => {
  receiver.answer = () => new Response(null, { status: 500 });
  const { json } = await sample({ type: 'comment.added' });
  await hooks.app.settled();
  receiver.answer = () => new Response();
  hooks.app.clock.advance(6_000);
  await hooks.app.settled();
  const delivery = await hooks.delivery(json.id);
  expect(delivery).toMatchObject({ origin: 'sample', status: 'delivered', attempts: 2 });
  const { json: again } = await hooks.call('POST', `/api/v1/deliveries/${json.id}/replay`);
  await hooks.app.settled();
  expect(again).toMatchObject({ origin: 'sample', eventId: json.eventId });
  expect(receiver.received.map(({ body }) => body)).toEqual(Array(3).fill(delivery.payload));
});

test('a key creates and reads samples only of readable types', async () => {
  const key = hooks.app.clientOf(await hooks.app.mintKey(['webhooks:write', 'comments:read']));
  const path = `/api/v1/webhooks/${endpoint.id}/samples`;
  const refused = await key('POST', path, { type: 'issue.created' });
  expect([refused.status, refused.json.error.message]).toEqual([403, expect.stringContaining('issues:read')]);
  expect((await key('POST', path, { type: 'comment.added' })).status).toBe(201);
  const { json } = await sample({ type: 'issue.created' });
  expect((await key('GET', `/api/v1/deliveries/${json.id}`)).status).toBe(404);
});
