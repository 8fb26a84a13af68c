// Installs and their values through the API: quotas, versions, packages.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

let app: TestApp;
let team = 0;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

/** A separate workspace for each test. */
async function workspace(): Promise<{ call: Client; key: string }> {
  const key = `T${++team}`;
  const { apiKey } = await app.addWorkspace(`Test ${team}`, key);
  return { call: app.clientOf(apiKey), key };
}

async function create(call: Client, team: string, title: string): Promise<void> {
  expect((await call('POST', '/api/v1/issues', { team, title })).status).toBe(201);
}

test('values persist, are counted, compared, listed and limited by a quota, and are invisible to other installs', async () => {
  const { call, key } = await workspace();
  const source = (id: string): string => `{
    id: '${id}', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
    on: { 'issue.created': { handle: async (event, ctx) => {
      await ctx.kv.increment('count', 2);
      const swapped = [await ctx.kv.compareAndSet('cas', null, 'a'), await ctx.kv.compareAndSet('cas', 'b', 'c')];
      await ctx.kv.set('gone', 1);
      await ctx.kv.delete('gone');
      let refused = null;
      await ctx.kv.set('big', 'x'.repeat(2_100_000)).catch((error) => { refused = error.code; });
      await ctx.kv.set('result', { swapped, refused, gone: await ctx.kv.get('gone'), keys: (await ctx.kv.list({ prefix: 'c' })).data.map((one) => one.key) });
    } } },
  }`;
  await install(call, await packSource(source('com.test.kv')));
  await create(call, key, 'KV 1');
  await app.settled();
  await create(call, key, 'KV 2');
  await app.settled();
  const value = async (name: string): Promise<Json> =>
    (await call('GET', `/api/v1/plugins/com.test.kv/kv/${name}`)).json.value;
  expect(await value('count')).toBe(4);
  expect(await value('result')).toEqual({
    swapped: [false, false],
    refused: 'validation_failed',
    gone: null,
    keys: ['cas', 'count'],
  });
  await install(call, await packSource(source('com.test.kv2')));
  expect((await call('GET', '/api/v1/plugins/com.test.kv2/kv')).json.data).toEqual([]);
});

test('invalid packages, older versions and unknown scopes are refused with the reason', async () => {
  const { call } = await workspace();
  const definition = (version: string): string =>
    `{ id: 'com.test.versions', version: '${version}', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } }, on: { 'issue.created': { filter: { priority: ['high'] }, handle() {} } } }`;
  const [old, newer] = [await packSource(definition('1.0.0')), await packSource(definition('1.1.0'))];
  await install(call, newer);
  expect(await call('POST', '/api/v1/plugins', { package: old, grant: [] })).toMatchObject({
    status: 409,
    json: { error: { code: 'conflict' } },
  });
  expect((await install(call, old, { downgrade: true })).pluginVersion).toBe('1.0.0');
  expect(
    await call('POST', '/api/v1/plugins', { package: { ...old, code: `${old.code}\n//` }, grant: [] }),
  ).toMatchObject({ status: 422, json: { error: { details: [{ path: 'package.sha256' }] } } });
  const filtered = {
    ...old,
    manifest: { ...old.manifest, on: { 'issue.created': { filter: { priority: ['highest'] } } } },
  };
  expect(await call('POST', '/api/v1/plugins', { package: filtered, grant: [] })).toMatchObject({
    status: 422,
    json: { error: { details: [{ issue: 'invalid_enum' }] } },
  });
});

test('only submitted settings are stored: a new version has its own defaults, and errors name the setting', async () => {
  const { call } = await workspace();
  const version = (number: string, settings: string) =>
    packSource(`{ id: 'com.test.settings', version: '${number}', engines: { tatami: '*' },
      scopes: { 'comments:write': { why: 'test' } }, settings: { type: 'object', ${settings} },
      schedules: { say: { cron: '0 3 * * *', handle: (_, ctx) => ctx.log.info(JSON.stringify(ctx.settings)) } } }`);
  const path = '/api/v1/plugins/com.test.settings';
  const readSettings = async (): Promise<Json> => (await call('GET', path)).json.settings;
  const refusalOf = async (settings: object): Promise<Json> =>
    (await call('PATCH', path, { settings })).json.error;

  const greeting = (text: string): string => `greeting: { type: 'string', default: '${text}' }`;
  await install(
    call,
    await version(
      '1.0.0',
      `properties: { ${greeting('Hello')}, times: { type: 'integer' }, tone: { type: 'string', enum: ['dry', 'kind'] } }`,
    ),
  );
  expect((await refusalOf({ tone: 'loud' })).message).toBe(
    'settings.tone: The value must be one of dry, kind.',
  );
  expect(await readSettings()).toEqual({ greeting: 'Hello' });
  await call('PATCH', path, { settings: { times: 2 } });
  expect(await readSettings()).toEqual({ times: 2, greeting: 'Hello' });

  await install(
    call,
    await version('1.1.0', `properties: { ${greeting('Welcome')}, times: { type: 'integer' } }`),
  );
  expect(await readSettings()).toEqual({ times: 2, greeting: 'Welcome' });
  await call('POST', `${path}/schedules/say/run`);
  await app.settled();
  const [run] = (await call('GET', `${path}/runs`)).json.data;
  expect(run.logs).toMatchObject([{ message: '{"times":2,"greeting":"Welcome"}' }]);

  expect(await refusalOf({ times: 'often' })).toMatchObject({
    message: 'settings.times: The value must be integer.',
    details: [{ path: 'settings.times' }],
  });
  const closed = `properties: { ${greeting('Hi')}, count: { type: 'integer' } }, additionalProperties: false`;
  const renamed = await version('1.2.0', closed);
  const grant = Object.keys(renamed.manifest.scopes ?? {});
  expect((await call('POST', '/api/v1/plugins', { package: renamed, grant })).json.error).toMatchObject({
    message: expect.stringContaining('The plugin has no setting times; available: greeting, count.'),
    details: [{ path: 'settings.times', issue: 'unknown_field' }],
  });
  await install(call, renamed, { settings: { count: 3 } });
  expect(await readSettings()).toEqual({ count: 3, greeting: 'Hi' });
  expect((await refusalOf({ cont: 3 })).message).toEndWith(
    'Did you mean count? Remove cont from `settings`.',
  );

  await install(call, await version('1.3.0', `properties: { count: {}, team: {} }, required: ['team']`), {
    settings: { team: 'ENG' },
  });
  expect(await refusalOf({ count: 3 })).toMatchObject({
    message: expect.stringContaining('has no default'),
    details: [{ path: 'settings.team', issue: 'required' }],
  });
});

test('an invalid manifest is refused with the path and a correction', async () => {
  const { call } = await workspace();
  const good = await packSource(
    `{ id: 'com.test.wrong', version: '1.0.0', engines: { tatami: '*' }, schedules: { say: { cron: '0 3 * * *', handle() {} } } }`,
  );
  const wrong: [part: object, path: string, says: string][] = [
    [
      { settings: { properties: { greeting: { type: 'strin' } } } },
      'settings.properties.greeting.type',
      'string?',
    ],
    [
      { settings: { properties: { greeting: { minLength: -1 } } } },
      'settings.properties.greeting.minLength',
      'at least 0',
    ],
    [{ settings: { properties: ['greeting'] } }, 'settings.properties', 'to its schema'],
    [{ settings: { required: { greeting: true } } }, 'settings.required', 'an array of names'],
    [{ settings: { type: 'array' } }, 'settings.type', '"object"'],
    [{ settings: { pattern: 'x' } }, 'settings.pattern', 'Remove it'],
    [{ id: 'Acme Hello' }, 'id', 'acme.hello'],
    [{ version: '2' }, 'version', '2.0.0'],
    [
      { schedules: { say: { cron: '0 3 * * *', tz: 'Europe/Berln' } } },
      'schedules.say.tz',
      'Did you mean Europe/Berlin?',
    ],
  ];
  for (const [part, path, says] of wrong) {
    const document = { ...good, manifest: { ...good.manifest, ...part } };
    const { status, json } = await call('POST', '/api/v1/plugins', { package: document, grant: [] });
    expect([status, json.error.details[0].path]).toEqual([422, `package.manifest.${path}`]);
    expect(json.error.message).toContain(says);
    expect(json.error.message).not.toContain('rror:');
  }
});
