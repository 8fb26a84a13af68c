// Only the reviewed version of a plugin runs, and response headers of a plugin cannot control a proxy.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { newKey, signPackage } from '../../core/features/plugins/installs/versions/signature.ts';
import type { PluginPackage } from '../../sdk/plugin/manifest.ts';
import { startApp, type Client, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';

let app: TestApp;
const of = '/api/v1/plugins/test.versions';
const reads = `{ 'issues:read': { why: 'test' } }`;
const writes = `{ 'issues:read': { why: 'test' }, 'comments:write': { why: 'test' } }`;
const version = (number: string, scopes = writes): Promise<PluginPackage> =>
  packSource(
    `{ id: 'test.versions', version: '${number}', engines: { tatami: '*' }, scopes: ${scopes}, on: { 'issue.created': { handle() {} } } }`,
  );
const grant = ['issues:read', 'comments:write'];

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

test('consent activates the version with the given hash, and no version that was uploaded later', async () => {
  await install(app.call, await version('1.0.0', reads));
  const [reviewed, later] = [await version('1.1.0'), await version('1.2.0')];
  const upload = (document: PluginPackage) => app.call('POST', '/api/v1/plugins', { package: document });
  expect((await upload(reviewed)).json.pending).toMatchObject({ sha256: reviewed.sha256 });
  expect((await upload(later)).json.pending).toMatchObject({ sha256: later.sha256 });
  const before = await app.lastSequence();
  for (const body of [{ grant }, { grant, sha256: reviewed.sha256 }, { grant, sha256: 'a'.repeat(64) }]) {
    const { status, json } = await app.call('POST', `${of}/consent`, body);
    expect([status, json.error?.code]).toEqual([409, 'conflict']);
    expect(json.error.message).toContain('`sha256`');
  }
  expect(await app.eventTypes(before)).toEqual([]);
  expect((await app.call('GET', of)).json.pluginVersion).toBe('1.0.0');
  const { sha256 } = (await app.call('GET', `${of}/consent`)).json.pending;
  expect((await app.call('POST', `${of}/consent`, { grant, sha256 })).json.pluginVersion).toBe('1.2.0');
});

test('a consent with the hash of reviewed code activates no other manifest for that code', async () => {
  const upload = (document: PluginPackage) => app.call('POST', '/api/v1/plugins', { package: document });
  const asking = `{ ...${writes}, 'labels:read': { why: 'test' } }`;
  const reviewed = await version('2.0.0', asking);
  const scopes = { ...reviewed.manifest.scopes, 'boards:write': { why: 'more' } };
  const swapped = { ...reviewed, manifest: { ...reviewed.manifest, version: '2.0.1', scopes } };
  const { sha256 } = reviewed;
  const { digest } = (await upload(reviewed)).json.pending;
  const swaps: [string, () => Promise<unknown>][] = [
    ['while it waits', async () => undefined],
    ['after it was refused', () => app.call('DELETE', `${of}/consent`)],
    ['after another took its place', async () => upload(await version('2.0.5', asking))],
  ];
  for (const [when, first] of swaps) {
    await first();
    expect((await upload(swapped)).json.pending).toMatchObject({ version: '2.0.1', sha256 });
    const before = await app.lastSequence();
    for (const hashes of [{ sha256 }, { digest }, { sha256, digest }]) {
      const { status, json } = await app.call('POST', `${of}/consent`, { grant, ...hashes });
      expect([when, status, json.error?.code]).toEqual([when, 409, 'conflict']);
    }
    expect(await app.eventTypes(before)).toEqual([]);
    expect((await upload(reviewed)).json.pending.digest).toBe(digest);
  }
  expect((await app.call('POST', `${of}/consent`, { grant, digest })).json.pluginVersion).toBe('2.0.0');
});

test('if only signed packages are allowed, no rollback, consent or backtest runs unsigned code', async () => {
  const acme = newKey();
  const trust = `acme=${acme.publicKey}`;
  const flags: Record<string, string> = { pluginTrust: trust };
  let server = await startApp({ flags });
  const restarted = async (pluginUnsigned: string): Promise<Client> => {
    flags.pluginUnsigned = pluginUnsigned;
    server = await server.restart();
    return server.call;
  };
  try {
    const [unsigned, signed, waiting] = [
      await version('1.0.0', reads),
      await version('1.1.0', reads),
      await version('1.2.0'),
    ];
    await install(server.call, unsigned, { sha256: unsigned.sha256 });
    await install(server.call, signed, { signature: signPackage(signed, acme.privateKey) });
    const strict = await restarted('refuse');
    const back = await strict('POST', `${of}/rollback`, {});
    expect([back.status, back.json.error?.code]).toEqual([403, 'forbidden']);
    expect((await strict('GET', of)).json.pluginVersion).toBe('1.1.0');
    const trials: [string, object][] = [
      ['/api/v1/backtests', {}],
      [`${of}/backtests`, {}],
      [`${of}/gate`, {}],
      [`${of}/shadow`, {}],
    ];
    for (const [path, body] of trials) {
      const tried = await strict('POST', path, { package: unsigned, ...body });
      expect([path, tried.status, tried.json.error?.code]).toEqual([path, 403, 'forbidden']);
    }
    const signature = signPackage(signed, acme.privateKey);
    expect((await strict('POST', `${of}/gate`, { package: signed, signature })).status).toBeLessThan(300);
    const lax = await restarted('confirm');
    expect((await lax('POST', `${of}/rollback`, {})).json.pluginVersion).toBe('1.0.0');
    await lax('POST', '/api/v1/plugins', { package: waiting, sha256: waiting.sha256 });
    const again = await restarted('refuse');
    const consented = await again('POST', `${of}/consent`, { grant, sha256: waiting.sha256 });
    expect([consented.status, consented.json.error?.code]).toEqual([403, 'forbidden']);
    expect((await again('GET', of)).json.pluginVersion).toBe('1.0.0');
  } finally {
    await server.stop();
  }
});

const steering = [
  ...['x-litespeed-location', 'x-lighttpd-send-file', 'x-lighttpd-send-tempfile', 'x-accel-redirect'],
  ...['x-sendfile', 'x-reproxy-url', 'x-forwarded-host', 'x-forwarded-for', 'x-real-ip', 'x-original-url'],
  ...['x-rewrite-url', 'x-http-method-override', 'x-request-id', 'x-frame-options', 'x-varnish', 'x-cache'],
  ...[
    'location',
    'refresh',
    'link',
    'set-cookie',
    'vary',
    'access-control-allow-origin',
    'surrogate-control',
  ],
  ...['content-encoding', 'content-disposition', 'strict-transport-security', 'clear-site-data', 'alt-svc'],
];

test('only allowed response headers of a plugin route reach the client, and no header that controls proxies', async () => {
  await install(
    app.call,
    await packSource(`{
      id: 'test.answers', version: '1.0.0', engines: { tatami: '*' },
      routes: { open: { method: 'GET', auth: 'public', handle: ({ query }) => ({ status: 200, headers: { [query.name]: query.value }, body: 'ok' }) } },
    }`),
  );
  const { url } = (await app.call('POST', '/api/v1/plugins/test.answers/routes/open/open')).json;
  const get = (name: string, value: string): Promise<Response> =>
    fetch(`${app.url}${new URL(url).pathname}?${new URLSearchParams({ name, value })}`);
  for (const name of steering) {
    const answer = await get(name, '/etc/passwd');
    expect([name, answer.status]).toEqual([name, 502]);
    expect([name, [...answer.headers].some(([, value]) => value.includes('passwd'))]).toEqual([name, false]);
    // A plugin is disabled if nearly all of its runs fail.
    expect((await get('x-plugin-ok', '1')).status).toBe(200);
  }
  for (const [name, value] of [
    ['retry-after', '60'],
    ['cache-control', 'no-cache'],
    ['etag', '"a1"'],
    ['last-modified', 'Tue, 01 Dec 2026 12:00:00 GMT'],
    ['X-Plugin-Balance', '4711'],
    ['x-slack-no-retry', '1'],
  ] as const) {
    const answer = await get(name, value);
    expect([name, answer.status, answer.headers.get(name)]).toEqual([name, 200, value]);
  }
});
