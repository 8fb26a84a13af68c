// A canceled delivery has no further attempt, whatever its state; an attempt in progress is recorded with its real
// result.
import { beforeEach, expect, test } from 'bun:test';
import type { Json } from '../../app.ts';
import { hooksOfFile } from './receiver.ts';

const { hooks, receiver } = await hooksOfFile();
let endpoint: Json;
beforeEach(async () => {
  receiver.received.length = 0;
  receiver.answer = () => new Response();
  if (endpoint) await hooks.call('DELETE', `/api/v1/webhooks/${endpoint.id}`);
  endpoint = await hooks.register(receiver.url, { events: ['issue.created'] });
});

const cancel = (id: string, headers?: Record<string, string>) =>
  hooks.call('POST', `/api/v1/deliveries/${id}/cancel`, undefined, headers);

test('a canceled delivery is not retried, and emits no event', async () => {
  receiver.answer = () => new Response(null, { status: 500 });
  await hooks.file('One');
  await hooks.app.settled();
  const [{ id }] = await hooks.deliveries(endpoint);
  const from = await hooks.app.lastSequence();
  expect((await cancel(id, { 'tatami-mode': 'simulate' })).json.status).toBe('canceled');
  expect((await hooks.delivery(id)).status).toBe('retrying');
  const { status, json } = await cancel(id);
  expect([status, json]).toMatchObject([200, { id, status: 'canceled', attempts: 1, nextAttemptAt: null }]);
  hooks.app.clock.advance(25 * 3_600_000);
  await hooks.app.settled();
  expect([receiver.received.length, await hooks.app.eventTypes(from)]).toEqual([1, []]);
  expect(await hooks.delivery(id)).toMatchObject({ status: 'canceled', attempts: 1 });
});

test('a canceled delivery in the memory queue is not sent', async () => {
  const gate = Promise.withResolvers<void>();
  receiver.answer = () => gate.promise.then(() => new Response());
  const issues = Array.from({ length: 12 }, (_, n) => ({ team: 'ENG', title: `Issue ${n}` }));
  await hooks.call('POST', '/api/v1/issues/bulk', { issues });
  await receiver.arrived(8);
  const waiting = await hooks.deliveries(endpoint, '&status=pending');
  expect(waiting.length).toBe(4);
  for (const { id } of waiting) expect((await cancel(id)).status).toBe(200);
  gate.resolve();
  await hooks.app.settled();
  expect(receiver.received.length).toBe(8);
  expect((await hooks.deliveries(endpoint, '&status=canceled')).length).toBe(4);
});

test('a delivery canceled during its attempt is delivered if the attempt succeeds, and otherwise canceled', async () => {
  for (const [answered, ends] of [
    [200, 'delivered'],
    [500, 'canceled'],
  ] as const) {
    receiver.received.length = 0;
    const gate = Promise.withResolvers<void>();
    receiver.answer = () => gate.promise.then(() => new Response(null, { status: answered }));
    await hooks.file(`Answered ${answered}`);
    await receiver.arrived(1);
    const [{ id, status }] = await hooks.deliveries(endpoint);
    expect(status).toBe('delivering');
    expect((await cancel(id)).status).toBe(200);
    gate.resolve();
    await hooks.app.settled();
    hooks.app.clock.advance(3_600_000);
    await hooks.app.settled();
    expect(receiver.received.length).toBe(1);
    expect(await hooks.delivery(id)).toMatchObject({
      status: ends,
      attempts: 1,
      attemptList: [{ number: 1, statusCode: answered }],
    });
  }
});

test('a finished or missing delivery cannot be canceled', async () => {
  await hooks.file('One');
  await hooks.app.settled();
  const [{ id }] = await hooks.deliveries(endpoint);
  expect((await cancel(id)).json.error).toMatchObject({
    code: 'conflict',
    message: 'This delivery is delivered. Only pending and retrying deliveries can be canceled.',
  });
  const other = await hooks.app.addWorkspace('Other', 'OTH');
  const foreign = await hooks.app.clientOf(other.apiKey)('POST', `/api/v1/deliveries/${id}/cancel`);
  expect(foreign.status).toBe(404);
});
