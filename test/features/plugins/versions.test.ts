// A plugin version has exactly the consented grant: upgrades wait for consent, probation proposes, and a plugin stays
// with its publisher.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { newKey, signPackage } from '../../../core/features/plugins/installs/versions/signature.ts';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

let app: TestApp;
let number = 0;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

interface VersionedPlugin {
  call: Client;
  key: string;
  path: string;
}

/** A separate workspace and plugin for each test. */
async function createPlugin(): Promise<VersionedPlugin & { id: string }> {
  const key = `V${++number}`;
  const { apiKey } = await app.addWorkspace(`Versions ${number}`, key);
  const id = `com.test.v${number}`;
  return { call: app.clientOf(apiKey), key, id, path: `/api/v1/plugins/${id}` };
}

const greeter = (id: string, version: string, scopes: string, more = '') =>
  packSource(`{ id: '${id}', version: '${version}', engines: { tatami: '*' }, scopes: ${scopes}, ${more}
    on: { 'issue.created': { handle: async (event, ctx) => {
      await ctx.kv.set('ran', '${version}');
      if (ctx.has('comments:write')) await ctx.comments.create(event.data.id, { body: 'Hello from ${version}' });
    } } } }`);
const reading = `{ 'issues:read': { why: 'look' } }`;
const writing = `{ 'issues:read': { why: 'look' }, 'comments:write': { why: 'greet' } }`;

async function createIssue({ call, key }: VersionedPlugin, title: string): Promise<Json> {
  const created = await call('POST', '/api/v1/issues', { team: key, title });
  expect(created.status).toBe(201);
  await app.settled();
  return created.json;
}

const bodies = async ({ call }: VersionedPlugin, issue: Json): Promise<string[]> =>
  (await call('GET', `/api/v1/issues/${issue.id}/comments`)).json.data.map((one: Json) => one.body);

async function typesAfter({ call }: VersionedPlugin, sequence: number): Promise<string[]> {
  await app.settled();
  const { json } = await call('GET', `/api/v1/events?limit=100&after=${sequence}`);
  return json.data.map((event: Json) => event.type).filter((type: string) => type.startsWith('plugin.'));
}

async function last({ call }: VersionedPlugin): Promise<number> {
  await app.settled();
  const { json } = await call('GET', '/api/v1/events?limit=100');
  return json.data.at(-1)?.sequence ?? 0;
}

test('an upgrade with more scopes waits for consent, and the version before continues under its own grant', async () => {
  const at = await createPlugin();
  const { call, path } = at;
  await install(call, await greeter(at.id, '1.0.0', reading));
  const before = await last(at);
  const wider = await greeter(
    at.id,
    '1.1.0',
    writing,
    `schedules: { nightly: { cron: '0 3 * * *', handle() {} } },`,
  );
  const requested = await call('POST', '/api/v1/plugins', { package: wider });
  expect(requested).toMatchObject({
    status: 200,
    json: {
      pluginVersion: '1.0.0',
      state: 'needs_consent',
      pending: {
        version: '1.1.0',
        sha256: wider.sha256,
        adds: [
          'Read comments, and create, change and delete them.',
          'Run nightly on the schedule 0 3 * * * (UTC).',
        ],
      },
    },
  });
  const waiting = await createIssue(at, 'While it waits');
  expect((await call('GET', `${path}/kv/ran`)).json.value).toBe('1.0.0');
  expect(await bodies(at, waiting)).toEqual([]);
  expect((await call('GET', `${path}/consent`)).json.pending.scopes).toMatchObject([
    { scope: 'issues:read', added: false },
    {
      scope: 'comments:write',
      added: true,
      sentence: 'Read comments, and create, change and delete them.',
      rows: null,
    },
  ]);
  expect(await call('POST', `${path}/consent`, { grant: [], sha256: 'a'.repeat(64) })).toMatchObject({
    status: 409,
    json: { error: { code: 'conflict', message: expect.stringContaining('`sha256`') } },
  });

  const grant = ['issues:read', 'comments:write'];
  const consented = await call('POST', `${path}/consent`, { grant, sha256: wider.sha256 });
  expect(consented).toMatchObject({
    status: 200,
    json: { pluginVersion: '1.1.0', state: 'active', pending: null },
  });
  expect(await bodies(at, await createIssue(at, 'With consent'))).toEqual(['Hello from 1.1.0']);
  expect(await typesAfter(at, before)).toEqual(['plugin.updated', 'plugin.updated']);
  expect(await call('POST', `${path}/consent`, { grant })).toMatchObject({ status: 409 });
});

test('a waiting version can be refused; a wider narrowing waits for consent as well, and a tighter one does not', async () => {
  const at = await createPlugin();
  const { call, path } = at;
  const narrow = (version: string, teams: string) =>
    greeter(at.id, version, `{ 'issues:read': { why: 'look', where: { team: [${teams}] } } }`);
  await install(call, await narrow('1.0.0', `'${at.key}'`));
  const wide = await greeter(at.id, '1.1.0', reading);
  expect((await call('POST', '/api/v1/plugins', { package: wide })).json).toMatchObject({
    pluginVersion: '1.0.0',
    pending: { adds: ['Read issues, with all their fields.'] },
  });
  expect(await call('DELETE', `${path}/consent`)).toMatchObject({
    status: 200,
    json: { state: 'active', pending: null, pluginVersion: '1.0.0' },
  });
  expect(await call('DELETE', `${path}/consent`)).toMatchObject({ status: 409 });
  // An upgrade with an explicit grant includes the consent.
  expect((await install(call, wide)).pluginVersion).toBe('1.1.0');
  const tight = await narrow('1.2.0', `'${at.key}'`);
  expect((await call('POST', '/api/v1/plugins', { package: tight })).json).toMatchObject({
    pluginVersion: '1.2.0',
    pending: null,
    state: 'active',
  });
});

test('the consent for an installation, for a waiting version and in the API is the same and complete', async () => {
  const at = await createPlugin();
  const { call, path, id } = at;
  const version = (number: string, net: string, auth: string): ReturnType<typeof packSource> =>
    greeter(
      id,
      number,
      reading,
      `net: [{ origin: 'https://203.0.114.9', ${net}why: 'to ask' }],
       secrets: { ACME_KEY: { hosts: ['https://203.0.114.9'], header: 'x-key' } },
       actions: { greet: { target: 'issue', handle() {} } },
       routes: { hook: { method: 'POST', auth: '${auth}', why: 'builds', handle() {} } },`,
    );
  const narrow = await version('1.0.0', `methods: ['GET'], path: '/v1/a', `, 'hmac');
  const sentences = ({ scopes, hosts, secrets, events, schedules, actions, routes }: Json): string[] =>
    [...scopes, ...hosts, ...secrets, ...events, ...schedules, ...actions, ...routes].map(
      (one: Json) => `${one.added ? '+' : ' '} ${one.sentence}`,
    );
  const first = await call('POST', '/api/v1/plugins/preview', { package: narrow });
  expect(first).toMatchObject({
    status: 200,
    json: { installed: null, asked: { signature: 'Not signed.', removed: [] } },
  });
  expect(sentences(first.json.asked)).toEqual([
    '+ Read issues, with all their fields.',
    '+ Send GET requests to https://203.0.114.9/v1/a.',
    '+ Use the secret ACME_KEY, sent in the header x-key to https://203.0.114.9.',
    '+ Receive issue.created events.',
    '+ Offer the action greet on an issue.',
    '+ Accept signed POST requests at the route hook, once opened.',
  ]);
  expect((await call('GET', path)).status).toBe(404);

  await install(call, narrow);
  const wide = await version('1.1.0', '', 'public');
  // The route was opened for senders with a signature.
  const { json } = await call('POST', '/api/v1/plugins', { package: wide });
  const { installed, pending } = (await call('GET', `${path}/consent`)).json;
  expect(json).toMatchObject({
    pluginVersion: '1.0.0',
    pending: {
      adds: [
        'Send requests of any method to any path of https://203.0.114.9.',
        'Accept POST requests from anyone at the public route hook, once opened.',
      ],
    },
  });
  expect(pending.hosts[0].before).toBe('Send GET requests to https://203.0.114.9/v1/a.');
  expect(sentences(installed)).toEqual(sentences(first.json.asked).map((line) => line.replace('+', ' ')));
  const { asked: requested } = (await call('POST', '/api/v1/plugins/preview', { package: wide })).json;
  expect(sentences(requested)).toEqual(sentences(pending));

  // Fewer scopes need no consent.
  await install(call, wide);
  const less = (await call('POST', '/api/v1/plugins/preview', { package: narrow })).json.asked;
  expect(less.hosts[0]).toMatchObject({ added: false, before: pending.hosts[0].sentence });
});

test('a rollback restores the version before with its grant and settings in one call', async () => {
  const at = await createPlugin();
  const { call, path } = at;
  const settings = `settings: { type: 'object', properties: { tone: { type: 'string', default: 'kind' } } },`;
  await install(call, await greeter(at.id, '1.0.0', writing, settings), { settings: { tone: 'dry' } });
  await call('PATCH', path, { grant: ['issues:read'] });
  await install(call, await greeter(at.id, '2.0.0', writing, settings), { settings: { tone: 'loud' } });
  const before = await last(at);
  expect((await call('GET', `${path}/versions`)).json.data).toMatchObject([
    { version: '2.0.0', replacedAt: null, installedBy: { kind: expect.any(String) } },
    { version: '1.0.0', grant: ['issues:read'], replacedAt: expect.any(String) },
  ]);
  expect(await call('POST', `${path}/rollback`, {})).toMatchObject({
    status: 200,
    json: { pluginVersion: '1.0.0', settings: { tone: 'dry' } },
  });
  const issue = await createIssue(at, 'Rolled back');
  expect((await call('GET', `${path}/kv/ran`)).json.value).toBe('1.0.0');
  expect(await bodies(at, issue)).toEqual([]);
  expect(await typesAfter(at, before)).toEqual(['plugin.updated']);
  expect((await call('POST', `${path}/rollback`, { version: '2.0.0' })).json.settings).toEqual({
    tone: 'loud',
  });
  expect(await call('POST', `${path}/rollback`, { version: '9.0.0' })).toMatchObject({ status: 409 });
});

test('a secret persists through upgrades and rollbacks, and is sent only to the hosts it was set for', async () => {
  const at = await createPlugin();
  const { call, path, id } = at;
  const sending = (version: string, host: string): ReturnType<typeof packSource> =>
    greeter(
      id,
      version,
      reading,
      `net: [{ origin: '${host}', why: 'to ask' }], secrets: { ACME_KEY: { hosts: ['${host}'], header: 'x-key' } },`,
    );
  const isSet = async (): Promise<boolean[]> =>
    (await call('GET', path)).json.secrets.map(({ setAt }: Json) => setAt !== null);
  await install(call, await greeter(id, '0.1.0', reading));
  const second = await sending('0.2.0', 'https://203.0.114.9');
  await install(call, second);
  await call('PUT', `${path}/secrets/ACME_KEY`, { value: 'sk_of_a_test' });
  // Through a rollback each way, and through an installation.
  for (const forward of [
    () => call('POST', `${path}/rollback`, { version: '0.2.0' }),
    () => install(call, second),
  ]) {
    expect((await call('POST', `${path}/rollback`, { version: '0.1.0' })).json.secrets).toEqual([]);
    expect((await call('GET', `${path}/secrets/ACME_KEY`)).status).toBe(404);
    await forward();
    expect(await isSet()).toEqual([true]);
  }
  await call('POST', `${path}/rollback`, { version: '0.1.0' });
  await install(call, await sending('0.3.0', 'https://203.0.114.10'));
  expect(await isSet()).toEqual([false]);
});

test('a new install is on probation, which also applies to writes with mode `apply`', async () => {
  const at = await createPlugin();
  const { call, path } = at;
  const document = await greeter(at.id, '1.0.0', writing);
  const created = await install(call, document, { probation: undefined });
  expect(created).toMatchObject({ state: 'probation', probation: { runsLeft: 20 }, mode: 'apply' });
  const first = await createIssue(at, 'First');
  expect(await bodies(at, first)).toEqual([]);
  const [run] = (await call('GET', `${path}/runs`)).json.data;
  expect(run.mode).not.toBe('apply');
  expect(run.effects).toContainEqual(expect.objectContaining({ kind: 'comment', action: 'create' }));

  await call('PATCH', path, { probation: true, modes: { comment: 'apply' } });
  expect(await bodies(at, await createIssue(at, 'On probation again'))).toEqual([]);
  await call('PATCH', path, { probation: false });
  expect(await bodies(at, await createIssue(at, 'Trusted again'))).toEqual(['Hello from 1.0.0']);
});

test('changed code under an installed version is refused without an explicit flag', async () => {
  const at = await createPlugin();
  const { call } = at;
  await install(call, await greeter(at.id, '1.0.0', reading));
  const other = await greeter(at.id, '1.0.0', reading, `name: 'Other',`);
  const grant = ['issues:read'];
  expect(await call('POST', '/api/v1/plugins', { package: other, grant })).toMatchObject({
    status: 409,
    json: { error: { message: expect.stringContaining('"replace": true') } },
  });
  expect((await call('POST', '/api/v1/plugins', { package: other, grant, replace: true })).json.name).toBe(
    'Other',
  );
});

test('with trusted publishers, a package needs a signature or a confirmed hash, and a plugin stays with its publisher', async () => {
  const [acme, other, stranger] = [newKey(), newKey(), newKey()];
  const trusting = await startApp({
    flags: { pluginTrust: `acme=${acme.publicKey}, other=${other.publicKey}` },
  });
  const strict = await startApp({
    flags: { pluginTrust: `acme=${acme.publicKey}`, pluginUnsigned: 'refuse' },
  });
  try {
    const document = await greeter('com.acme.signed', '1.0.0', reading);
    const next = await greeter('com.acme.signed', '1.1.0', reading);
    const post = (on: TestApp, body: object) =>
      on.call('POST', '/api/v1/plugins', { package: document, grant: ['issues:read'], ...body });
    const signature = signPackage(document, acme.privateKey);
    const unknown = signPackage(document, stranger.privateKey);
    const { sha256 } = document;

    const saidOf = async (offer: object): Promise<Json> =>
      (await trusting.call('POST', '/api/v1/plugins/preview', { package: document, ...offer })).json.asked;
    expect(await saidOf({})).toMatchObject({ publisher: null, signature: 'Not signed.' });
    expect((await saidOf({ signature: unknown })).signature).toBe(
      `Not signed by a trusted publisher: the key ${unknown.keyId} is unknown.`,
    );
    expect(await saidOf({ signature })).toMatchObject({
      publisher: 'acme',
      signature: 'Signed by acme, which this server trusts.',
    });
    for (const offer of [{}, { signature: unknown }])
      expect(await post(trusting, offer)).toMatchObject({
        status: 403,
        json: { error: { message: expect.stringContaining(`"sha256": "${sha256}"`) } },
      });
    expect(await post(trusting, { sha256: 'b'.repeat(64) })).toMatchObject({ status: 422 });
    const altered = { ...document, manifest: { ...document.manifest, name: 'Altered' } };
    expect(await post(trusting, { package: altered, signature })).toMatchObject({ status: 422 });
    for (const offer of [{ sha256 }, { signature: unknown, sha256 }])
      expect(await post(strict, offer)).toMatchObject({ status: 403 });
    expect((await post(strict, { signature })).json).toMatchObject({ publisher: 'acme' });

    expect((await post(trusting, { sha256 })).json).toMatchObject({ publisher: null });
    expect((await post(trusting, { signature })).json).toMatchObject({ publisher: 'acme' });
    for (const offer of [
      { package: next, sha256: next.sha256 },
      { package: next, signature: signPackage(next, other.privateKey) },
      { package: next, signature: signPackage(next, stranger.privateKey), sha256: next.sha256 },
    ])
      expect(await post(trusting, offer)).toMatchObject({
        status: 409,
        json: { error: { message: expect.stringContaining('published by acme') } },
      });
    const own = { package: next, signature: signPackage(next, acme.privateKey) };
    expect((await post(trusting, own)).json).toMatchObject({ pluginVersion: '1.1.0', publisher: 'acme' });
  } finally {
    await trusting.stop();
    await strict.stop();
  }
});
