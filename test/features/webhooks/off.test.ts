// When an endpoint is disabled, for any reason, its open deliveries are canceled: visible at once, and permanently,
// also if they exceed one batch, have no rows yet, or the server is killed meanwhile. docs/spec/webhooks.md › States.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, startApp, type Client, type Json } from '../../app.ts';
import { clientOf, startServer } from '../../faults/server.ts';
import { hooksOfFile } from './receiver.ts';

const { hooks, receiver } = await hooksOfFile();

const issues = (count: number) => ({
  issues: Array.from({ length: count }, (_, n) => ({ team: 'ENG', title: `Issue ${n}` })),
});

async function statuses(call: Client, endpointId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const status of ['pending', 'retrying', 'canceled', 'delivered', 'failed'])
    for (let after = ''; ;) {
      const { json } = await call(
        'GET',
        `/api/v1/deliveries?webhook=${endpointId}&limit=100&status=${status}${after}`,
      );
      for (const row of json.data) expect(row.status).toBe(status);
      counts[status] = (counts[status] ?? 0) + json.data.length;
      if (!json.pageInfo.hasNextPage) break;
      after = `&after=${json.pageInfo.endCursor}`;
    }
  return counts;
}

const hour = 3_600_000;
const causes: Record<string, { last: string; go(endpoint: Json): Promise<unknown> }> = {
  'disabled by request': {
    last: 'canceled',
    go: ({ id }) => hooks.call('PATCH', `/api/v1/webhooks/${id}`, { enabled: false }),
  },
  deleted: { last: 'canceled', go: ({ id }) => hooks.call('DELETE', `/api/v1/webhooks/${id}`) },
  'disabled by a 410': {
    last: 'failed',
    async go() {
      receiver.answer = () => new Response(null, { status: 410 });
      await hooks.file('The last');
      await hooks.app.settled();
    },
  },
};

for (const [cause, { last, go }] of Object.entries(causes))
  test(`${cause}: waiting retries are canceled, and requested replays count as undelivered`, async () => {
    receiver.answer = () => new Response(null, { status: 500 });
    const endpoint = await hooks.register(receiver.url, { events: ['issue.created'] });
    const from = await hooks.app.lastSequence();
    await hooks.call('POST', '/api/v1/issues/bulk', issues(5));
    await hooks.app.settled();
    expect(await statuses(hooks.call, endpoint.id)).toMatchObject({ retrying: 5 });
    await go(endpoint);
    const more = last === 'failed' ? 1 : 0;
    const canceled = { pending: 0, retrying: 0, canceled: 5, delivered: 0, failed: more };
    expect(await statuses(hooks.call, endpoint.id)).toEqual(canceled);
    if (cause === 'deleted') return;
    for (const { status, nextAttemptAt, finishedAt } of await hooks.deliveries(endpoint))
      expect([['canceled', 'failed'].includes(status), nextAttemptAt, typeof finishedAt]).toEqual([
        true,
        null,
        'string',
      ]);
    receiver.received.length = 0;
    receiver.answer = () => new Response();
    await hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled: true });
    hooks.app.clock.advance(25 * hour);
    await hooks.app.settled();
    expect([receiver.received.length, await statuses(hooks.call, endpoint.id)]).toEqual([0, canceled]);
    const again = { afterSequence: from, only: 'undelivered' };
    expect((await hooks.call('POST', `/api/v1/webhooks/${endpoint.id}/replays`, again)).status).toBe(202);
    await hooks.app.settled();
    expect(receiver.received.length).toBe(5 + more);
    await hooks.call('DELETE', `/api/v1/webhooks/${endpoint.id}`);
  });

test('120 hours of failure: waiting retries are canceled', async () => {
  receiver.answer = () => new Response(null, { status: 500 });
  const endpoint = await hooks.register(receiver.url, { events: ['issue.created'] });
  const look = async (): Promise<Json> => (await hooks.call('GET', `/api/v1/webhooks/${endpoint.id}`)).json;
  for (let hours = 0; (await look()).enabled; hours++) {
    expect(hours).toBeLessThan(150);
    if (hours % 5 === 0) await hooks.file(`Hour ${hours}`);
    hooks.app.clock.advance(hour);
    await hooks.app.settled();
  }
  expect((await look()).disabledReason).toBe('All deliveries have failed for 120 hours.');
  const counts = await statuses(hooks.call, endpoint.id);
  expect([counts.pending, counts.retrying, counts.canceled! > 0]).toEqual([0, 0, true]);
  await hooks.call('DELETE', `/api/v1/webhooks/${endpoint.id}`);
}, 30_000);

test('deliveries in the memory queue are not sent, also if the endpoint is enabled again meanwhile', async () => {
  const gate = Promise.withResolvers<void>();
  receiver.received.length = 0;
  receiver.answer = () => gate.promise.then(() => new Response());
  const endpoint = await hooks.register(receiver.url, { events: ['issue.created'] });
  await hooks.call('POST', '/api/v1/issues/bulk', issues(20));
  await receiver.arrived(8);
  for (const enabled of [false, true])
    expect((await hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled })).status).toBe(200);
  gate.resolve();
  await hooks.file('after');
  await hooks.app.settled();
  // Attempts in progress are not aborted.
  expect(await statuses(hooks.call, endpoint.id)).toEqual({
    pending: 0,
    retrying: 0,
    canceled: 12,
    delivered: 9,
    failed: 0,
  });
  expect(receiver.received.length).toBe(9);
  await hooks.call('DELETE', `/api/v1/webhooks/${endpoint.id}`);
});

test('more deliveries than one batch are shown as canceled at once, also after a kill', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tatami-off-'));
  const app = await startApp({ dataDir, clock: createSystemClock() });
  await app.stop();
  const start = async () => {
    const server = await startServer(dataDir, { flags: ['--egress-allow', '127.0.0.0/8'] });
    return { ...server, call: clientOf(server.url, app.workspace.apiKey) };
  };
  let server = await start();
  receiver.answer = () => new Response(null, { status: 500 });
  const { json: endpoint } = await server.call('POST', '/api/v1/webhooks', {
    url: receiver.url,
    events: ['issue.created'],
  });
  for (let n = 0; n < 16; n++) await server.call('POST', '/api/v1/issues/bulk', issues(100));
  // Reading the deliveries stores a row for each.
  await server.call('GET', `/api/v1/webhooks/${endpoint.id}/deliveries`);
  const off = await server.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled: false });
  expect(off.status).toBe(200);
  const pending = `/api/v1/webhooks/${endpoint.id}/deliveries?status=pending`;
  expect((await server.call('GET', pending)).json.data).toEqual([]);
  server.child.kill('SIGKILL');
  await server.child.exited;
  server = await start();
  expect((await server.call('GET', pending)).json.data).toEqual([]);
  receiver.received.length = 0;
  receiver.answer = () => new Response();
  expect((await server.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled: true })).status).toBe(200);
  const counts = await statuses(server.call, endpoint.id);
  expect([counts.pending, counts.retrying, counts.delivered, counts.canceled]).toEqual([0, 0, 0, 1_600]);
  expect(receiver.received.length).toBe(0);
  server.child.kill('SIGKILL');
  await server.child.exited;
  rmSync(dataDir, { recursive: true });
}, 60_000);
