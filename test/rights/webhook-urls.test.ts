// The query of a webhook URL can contain a secret, so only the response to its creation shows it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { install, packSource } from '../features/plugins/pack.ts';
import { startHooks, startReceiver, type Hooks } from '../features/webhooks/receiver.ts';

const secrets = ['hunter2secret', 'bare0secret', 'third1secret'];
const receiver = startReceiver();
let hooks: Hooks;

beforeAll(async () => {
  hooks = await startHooks();
});
afterAll(async () => {
  await hooks.app.stop();
  await receiver.stop();
});

test('query values of a webhook URL are masked in every response, and used for deliveries', async () => {
  const { app, call } = hooks;
  await install(
    call,
    await packSource(
      `{
      id: 'com.test.reader', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'webhooks:read': { why: 'test' } },
      on: { 'webhook.created': { handle: keep }, 'webhook.updated': { handle: keep } },
    }`,
      'const keep = async (event, ctx) => { await ctx.kv.set(event.type, event.data); ctx.log.info(event.data.url); };',
    ),
  );
  const url = `${receiver.url}?token=${secrets[0]}&${secrets[1]}`;
  const masked = `${receiver.url}?token=…&…`;
  const created = await call('POST', '/api/v1/webhooks', { url, events: ['webhook.*', 'issue.*'] });
  expect(created).toMatchObject({ status: 201, json: { url } });
  const path = `/api/v1/webhooks/${created.json.id}`;
  await call('PATCH', path, { url: `${receiver.url}?token=${secrets[2]}`, description: 'moved' });
  await call('PATCH', path, { url });
  await hooks.file('Sent');
  await app.settled();
  await receiver.arrived(3);
  expect(
    receiver.received.every(({ event }) => !secrets.some((one) => JSON.stringify(event).includes(one))),
  ).toBe(true);

  expect((await call('GET', path)).json.url).toBe(masked);
  const { json: deliveries } = await call('GET', `${path}/deliveries`);
  const apiPaths = [
    path,
    '/api/v1/webhooks',
    '/api/v1/events?limit=100',
    '/api/v1/audit-log',
    '/api/v1/deliveries',
    '/api/v1/plugins/com.test.reader/kv/webhook.created',
    '/api/v1/plugins/com.test.reader/kv/webhook.updated',
    '/api/v1/plugins/com.test.reader/runs',
    ...deliveries.data.map(({ id }: { id: string }) => `/api/v1/deliveries/${id}`),
  ];
  for (const apiPath of apiPaths) {
    const { status, text } = await call('GET', apiPath);
    expect([apiPath, status, secrets.filter((one) => text.includes(one))]).toEqual([apiPath, 200, []]);
  }
  expect(secrets.filter((one) => JSON.stringify(app.logs).includes(one))).toEqual([]);
});

test('a masked URL is not accepted as the new URL', async () => {
  const { call } = hooks;
  const { json } = await call('POST', '/api/v1/webhooks', {
    url: `${receiver.url}?token=x`,
    events: ['label.*'],
  });
  const path = `/api/v1/webhooks/${json.id}`;
  for (const url of [(await call('GET', path)).json.url, encodeURI(`${receiver.url}?token=…`)])
    expect(await call('PATCH', path, { url })).toMatchObject({
      status: 422,
      json: { error: { details: [{ path: 'url', fix: expect.stringContaining('full address') }] } },
    });
});
