// Usage is recorded per cause and can be read: `GET /usage`.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { startReceiver, type Receiver } from '../features/webhooks/receiver.ts';
import { fileMany } from './flood.ts';

let app: TestApp;
let receiver: Receiver;
beforeEach(async () => {
  receiver = startReceiver();
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
});
afterEach(async () => {
  await app.stop();
  await receiver.stop();
});

const usage = async (call: Client): Promise<Json> => {
  const { status, json } = await call('GET', '/api/v1/usage');
  expect(status).toBe(200);
  return json;
};
const billingAccount = async (call: Client, id: string): Promise<Json> =>
  (await usage(call)).payers.find((one: Json) => one.id === id);

test('tokens, plugins and endpoints are charged for the work that they cause, and usage of other workspaces is invisible', async () => {
  const other = app.clientOf((await app.addWorkspace('Other', 'OTHER')).apiKey);
  const plugin = await install(
    app.call,
    await packSource(`{ id: 'test.worker', version: '1.0.0', engines: { tatami: '*' },
      scopes: { 'issues:read': { why: 'test' } },
      on: { 'issue.created': { handle: async (event, ctx) => {
        let sum = 0;
        for (let n = 0; n < 300_000; n++) sum += n;
        await ctx.issues.get(event.data.id);
        await ctx.kv.set(event.data.id, sum);
      } } } }`),
  );
  const { json: endpoint } = await app.call('POST', '/api/v1/webhooks', {
    url: `${receiver.url}?secret=hidden`,
    events: ['issue.created'],
  });
  const token = await app.call('POST', '/api/v1/api-keys', { name: 'busy', scopes: ['issues:write'] });
  const busy = app.clientOf(token.json.key);
  for (let n = 0; n < 20; n++)
    await busy('POST', '/api/v1/issues', { team: 'ENG', title: `${n}`, description: 'd'.repeat(10_000) });
  await app.settled();

  const ofToken = await billingAccount(app.call, token.json.id);
  expect(ofToken).toMatchObject({ kind: 'token', name: 'busy', requests: 20, runs: 0, deliveries: 0 });
  expect(ofToken.bytesIn).toBeGreaterThan(200_000);
  expect(ofToken.cpuMs).toBeGreaterThan(0);
  const ofPlugin = await billingAccount(app.call, plugin.id);
  expect(ofPlugin).toMatchObject({ kind: 'plugin', name: 'test.worker', runs: 20, requests: 20 });
  for (const quantity of ['cpuMs', 'sandboxMs', 'queueMs', 'storedBytes'])
    expect([quantity, ofPlugin[quantity] > 0]).toEqual([quantity, true]);
  const ofEndpoint = await billingAccount(app.call, endpoint.id);
  expect(ofEndpoint).toMatchObject({ kind: 'webhook', deliveries: 20, runs: 0 });
  expect(ofEndpoint.name).toBe(new URL(receiver.url).host);
  expect(ofEndpoint.bytesOut).toBeGreaterThan(200_000);

  const all = await usage(app.call);
  expect(all.total.runs).toBe(20);
  expect(all.storedBytes).toBeGreaterThanOrEqual(ofPlugin.storedBytes);
  await usage(other);
  const theirs = await usage(other);
  expect(theirs.payers.map(({ kind }: Json) => kind)).toEqual(['token']);
  expect(theirs.total.runs + theirs.total.deliveries + theirs.storedBytes).toBe(0);
});

test('rejected and large requests are charged too; an hour later the record is gone', async () => {
  await app.call('POST', '/api/v1/issues', { title: 'no team' });
  await fileMany(app.call, 'ENG', 300);
  // A compressed response is charged by its compressed size.
  await app.call('GET', '/api/v1/issues?limit=100', undefined, { 'accept-encoding': 'identity' });
  const [before] = (await usage(app.call)).payers;
  expect(before.requests).toBeGreaterThanOrEqual(5);
  expect(before.bytesOut).toBeGreaterThan(30_000);
  app.clock.advance(66 * 60_000);
  const [after] = (await usage(app.call)).payers;
  expect(after.requests).toBeLessThanOrEqual(1);
});

test('stored responses of idempotency keys are counted', async () => {
  expect((await usage(app.call)).storedBytes).toBe(0);
  for (let n = 0; n < 3; n++)
    await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' }, { 'idempotency-key': `k${n}` });
  expect((await usage(app.call)).storedBytes).toBeGreaterThan(300);
});
