import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { PluginPackage } from '../../sdk/plugin/manifest.ts';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { askAs, rightsBut } from './asking.ts';

let app: TestApp;
/** Has only `plugins:write`. */
let outsider: Client;
let holder: PluginPackage;

const pluginsOf = (id: string): string => `/api/v1/plugins/${id}`;
const missing = (...scopes: string[]) => ({
  status: 403,
  json: {
    error: { code: 'insufficient_scope', message: expect.stringContaining(scopes.join(', ')) },
  },
});

beforeAll(async () => {
  app = await startApp();
  outsider = app.clientOf(await app.mintKey(['plugins:write']));
  holder = await packSource(`{
    id: 'com.test.holder', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:write': { why: 'test' } },
    settings: { type: 'object', properties: { priority: { type: 'string', default: 'low' } } },
    on: { 'issue.created': { handle: async (event, ctx) => {
      await ctx.issues.update(event.data.id, { priority: ctx.settings.priority });
      await ctx.kv.set('seen', event.data.title);
      ctx.log.info(event.data.title);
    } } },
    schedules: { nightly: { cron: '0 3 * * *', handle() {} } },
  }`);
});
afterAll(() => app.stop());

async function create(title: string): Promise<Json> {
  const { status, json } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title });
  expect(status).toBe(201);
  await app.settled();
  return json;
}

test('installing a plugin that requests no scopes for its events is rejected with the scopes to request', async () => {
  for (const [type, scope] of [
    ['issue.created', 'issues:read'],
    ['comment.added', 'comments:read'],
    ['member.added', 'members:read'],
    ['api_key.created', 'api-keys:read'],
    ['webhook.created', 'webhooks:read'],
  ]) {
    const spy = await packSource(`{
      id: 'com.test.spy', version: '1.0.0', engines: { tatami: '*' },
      on: { '${type}': { handle: (event, ctx) => ctx.kv.set('seen', event.data) } },
    }`);
    const refused = await outsider('POST', '/api/v1/plugins', { package: spy, grant: [] });
    expect([type, refused]).toMatchObject([
      type,
      {
        status: 422,
        json: {
          error: {
            details: [
              {
                path: `package.manifest.on.${type}`,
                issue: 'required',
                fix: expect.stringContaining(scope!),
              },
            ],
          },
        },
      },
    ]);
  }
});

test('events under a requested scope are delivered only once it is granted, and the install names the missing scope', async () => {
  const spy = await packSource(`{
    id: 'com.test.spy', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
    on: { 'issue.created': { handle: (event, ctx) => ctx.kv.set('seen', event.data.title) } },
  }`);
  const created = await outsider('POST', '/api/v1/plugins', { package: spy, grant: [], probation: false });
  expect(created).toMatchObject({
    status: 201,
    json: { events: [], state: 'active', stateReason: expect.stringContaining('issues:read') },
  });
  await create('Unheard');
  expect((await app.call('GET', `${pluginsOf('com.test.spy')}/runs`)).json.data).toEqual([]);

  expect(await outsider('PATCH', pluginsOf('com.test.spy'), { grant: ['issues:read'] })).toMatchObject({
    status: 403,
    json: { error: { message: expect.stringContaining('issues:read') } },
  });
  const granted = await app.call('PATCH', pluginsOf('com.test.spy'), { grant: ['issues:read'] });
  expect(granted.json).toMatchObject({ events: ['issue.created'], stateReason: null });
  await create('Heard');
  expect((await app.call('GET', `${pluginsOf('com.test.spy')}/kv/seen`)).json.value).toBe('Heard');
  await app.call('DELETE', pluginsOf('com.test.spy'));
});

test('a caller without the scopes of a plugin cannot configure it or read its storage and runs, but can stop it', async () => {
  const { id } = await install(app.call, holder);
  await create('Seen by the plugin');
  const run = (await app.call('GET', `${pluginsOf(id)}/runs`)).json.data[0];
  const other = { ...holder, manifest: { ...holder.manifest, version: '1.0.1', scopes: {}, on: {} } };
  const laundering = {
    ...other,
    manifest: { ...other.manifest, handlers: ['schedule:nightly'] },
  };
  for (const [method, path, body] of [
    ['PATCH', pluginsOf(id), { settings: { priority: 'urgent' } }],
    ['PATCH', pluginsOf(id), { mode: 'simulate' }],
    ['PATCH', pluginsOf(id), { grant: [] }],
    ['PATCH', pluginsOf(id), { state: 'active' }],
    ['PATCH', pluginsOf(id), { state: 'paused_by_admin', settings: {} }],
    ['POST', '/api/v1/plugins', { package: laundering, grant: [] }],
    ['POST', `${pluginsOf(id)}/schedules/nightly/run`, undefined],
    ['PUT', `${pluginsOf(id)}/kv/seen`, { value: 'forged' }],
    ['DELETE', `${pluginsOf(id)}/kv/seen`, undefined],
  ] as const)
    expect([method, path, await outsider(method, path, body)]).toMatchObject([
      method,
      path,
      missing('issues:read', 'issues:write'),
    ]);
  for (const path of [
    `${pluginsOf(id)}/kv`,
    `${pluginsOf(id)}/kv/seen`,
    `${pluginsOf(id)}/runs`,
    `/api/v1/runs/${run.id}`,
  ])
    expect([path, await outsider('GET', path)]).toMatchObject([path, missing('issues:read')]);

  // Reading requires the scopes of the plugin, so a reader of issues sees nothing new.
  const reader = app.clientOf(await app.mintKey(['plugins:write', 'issues:read']));
  expect((await reader('GET', `${pluginsOf(id)}/kv/seen`)).json.value).toBe('Seen by the plugin');
  expect((await reader('GET', `/api/v1/runs/${run.id}`)).status).toBe(200);
  const peer = app.clientOf(await app.mintKey(['plugins:write', 'issues:write']));
  expect((await peer('PATCH', pluginsOf(id), { settings: { priority: 'high' } })).status).toBe(200);

  expect((await outsider('GET', pluginsOf(id))).status).toBe(200);
  expect((await outsider('PATCH', pluginsOf(id), { state: 'paused_by_admin' })).status).toBe(200);
  expect((await outsider('DELETE', pluginsOf(id))).status).toBe(204);
  expect(await outsider('GET', `/api/v1/runs/${run.id}`)).toMatchObject(missing('issues:read'));
});

test('a queued run does not receive its event after the grant is withdrawn', async () => {
  const slow = await packSource(`{
    id: 'com.test.slow', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
    on: { 'issue.created': { handle: async (event, ctx) => {
      if (ctx.run.attempt === 1) throw new RetryLater(60_000);
      await ctx.kv.set('seen', event.data.title);
    } } },
  }`);
  const { id } = await install(app.call, slow);
  await create('Taken away');
  expect((await app.call('PATCH', pluginsOf(id), { grant: [] })).status).toBe(200);
  app.clock.advance(61_000);
  await app.settled();
  expect((await app.call('GET', `${pluginsOf(id)}/runs`)).json.data).toMatchObject([
    {
      status: 'dead',
      error: { code: 'insufficient_scope', message: expect.stringContaining('issues:read') },
    },
  ]);
  expect((await app.call('GET', `${pluginsOf(id)}/kv/seen`)).status).toBe(404);
  await app.call('DELETE', pluginsOf(id));
});

test('names, reasons and errors contain no terminal escapes', async () => {
  const escape = '\u001b]0;owned\u0007';
  for (const [path, manifest] of [
    ['package.manifest.name', { ...holder.manifest, name: `Holder${escape}` }],
    [
      'package.manifest.scopes.issues:write.why',
      { ...holder.manifest, scopes: { 'issues:write': { why: `a${escape}` } } },
    ],
    ['package.manifest.description', { ...holder.manifest, description: 'right\u202eto left' }],
  ] as const)
    expect([
      path,
      await app.call('POST', '/api/v1/plugins', { package: { ...holder, manifest }, grant: [] }),
    ]).toMatchObject([
      path,
      {
        status: 422,
        json: { error: { message: expect.stringMatching(/control character/), details: [{ path }] } },
      },
    ]);

  const loud = await packSource(`{
    id: 'com.test.loud', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
    on: { 'issue.created': { handle() { throw new Drop('\\u001b[2Jcleared'); } } },
  }`);
  const { id } = await install(app.call, loud);
  await create('Loud');
  const [{ error }] = (await app.call('GET', `${pluginsOf(id)}/runs`)).json.data;
  expect(error.message).not.toMatch(/\u001b/);
  expect(error.message).toContain('cleared');
});

test('a plugin acts for no member, so that inboxes, preferences and favorites are closed to it', async () => {
  const requests = [
    ['GET', '/inbox'],
    ['GET', '/inbox/unread-count'],
    ['GET', '/inbox/preferences'],
    ['PUT', '/inbox/preferences', { subscribed: false }],
    ['GET', '/me/preferences'],
    ['PUT', '/me/preferences', { theme: 'dark' }],
    ['GET', '/favorites'],
    ['POST', '/favorites', { type: 'issue', targetId: (await create('Favorite')).id }],
  ] as const;
  for (const [method, path, body] of requests)
    expect([path, await askAs(app, rightsBut({}), method, `/api/v1${path}`, body)]).toMatchObject([
      path,
      { status: 403, code: 'forbidden', message: expect.stringContaining('acts for no member') },
    ]);
});
