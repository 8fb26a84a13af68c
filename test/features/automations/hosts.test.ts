// Rules send requests only to hosts that an admin added, with secrets that nobody sees.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { permittedRequest, secretsForGuest } from '../../../core/features/plugins/http-out/rules.ts';
import type { Install } from '../../../core/features/plugins/installs/model.ts';
import type { Sealing } from '../../../core/platform/lib/secrets/sealing.ts';
import type { Scope } from '../../../core/platform/store/store.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { createIssue, enabled, getIssue, setHigh, v1 } from './rules.ts';

let app: TestApp;
interface Received {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | null;
  readonly body: string;
}
const received: Received[] = [];
/** Happens while a rule waits for the answer. */
let meanwhile = async (): Promise<void> => {};
/** URLs of the requests. */
const urls: string[] = [];
const receiver = Bun.serve({
  ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 0 },
  async fetch(request) {
    const { method, headers, url } = request;
    const body = await request.text();
    urls.push(url);
    received.push({ method, path: new URL(url).pathname, authorization: headers.get('authorization'), body });
    await meanwhile();
    return new Response('{}');
  },
});
const origin = `http://127.0.0.1:${receiver.port}`;

beforeAll(async () => void (app = await startApp({ flags: { egressAllow: '127.0.0.1/32' } })));
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

async function addHost(fields: object): Promise<Json> {
  const { status, json } = await app.call('POST', `${v1}/automation-hosts`, { origin, ...fields });
  expect([status, json]).toMatchObject([201, {}]);
  return json;
}
const remove = (id: string): Promise<Json> => app.call('DELETE', `${v1}/automations/${id}`);
const send = (host: string, path = '/v1/messages') => ({
  type: 'http',
  host,
  path,
  body: { text: 'New: {{ issue.title }}' },
});

test('a rule sends a request to a host with its secret, once, and the secret is never shown', async () => {
  const host = await addHost({ name: 'chat', path: '/v1/', header: 'authorization', format: 'Bearer {}' });
  const value = 'very-secret-value';
  const set = await app.call('PUT', `${v1}/automation-hosts/${host.id}/secret`, { value });
  expect([set.status, set.text.includes(value)]).toEqual([200, false]);
  const { id } = await enabled(app, { actions: [send('chat')] });
  received.length = 0;
  await createIssue(app, { title: 'Crash' });
  expect(received).toEqual([
    { method: 'POST', path: '/v1/messages', authorization: `Bearer ${value}`, body: '{"text":"New: Crash"}' },
  ]);
  for (const path of [`automation-hosts/${host.id}`, `plugins/${id}/runs`, 'events?limit=100', 'usage'])
    expect([path, (await app.call('GET', `${v1}/${path}`)).text.includes(value)]).toEqual([path, false]);
  await remove(id);
});

test('a rule whose owner becomes a guest while it waits for a host writes nothing, and is suspended', async () => {
  await addHost({ name: 'slow' });
  const owner = (await app.call('POST', `${v1}/members`, { name: 'Owner' })).json;
  const rule = await enabled(app, { actions: [setHigh, send('slow', '/v1/x')] });
  await app.call('PATCH', `${v1}/automations/${rule.id}`, { ownerId: owner.id });
  let demoted = 0;
  meanwhile = async () => {
    const guest = { role: 'guest', teams: ['ENG'] };
    demoted = (await app.call('PATCH', `${v1}/members/${owner.id}`, guest)).status;
  };
  const issue = await createIssue(app);
  meanwhile = async () => {};
  await app.settled();
  expect([demoted, (await getIssue(app, issue.id)).priority]).toEqual([200, 'none']);
  expect((await app.call('GET', `${v1}/automations/${rule.id}`)).json.state).toBe('suspended');
  await remove(rule.id);
});

test('a path outside of the host, a removed host and a changed origin are refused', async () => {
  const { id } = await enabled(app, { actions: [send('chat', '/other')] });
  const lastRun = async (): Promise<Json> => (await app.call('GET', `${v1}/plugins/${id}/runs`)).json.data[0];
  received.length = 0;
  await createIssue(app);
  expect((await lastRun()).error.message).toContain('/other');
  const { data } = (await app.call('GET', `${v1}/automation-hosts`)).json;
  const host = data.find(({ name }: Json) => name === 'chat');
  const moved = await app.call('PATCH', `${v1}/automation-hosts/${host.id}`, {
    origin: 'https://chat.acme.example',
  });
  expect(moved.json).toMatchObject({ origin: 'https://chat.acme.example', secretSetAt: null });
  await app.call('DELETE', `${v1}/automation-hosts/${host.id}`);
  await createIssue(app);
  expect(['dead', 'retrying']).toContain((await lastRun()).status);
  expect(received).toEqual([]);
  await remove(id);
});

test('only an admin adds hosts, and a host is never this server', async () => {
  const { json } = await app.call('POST', `${v1}/members`, {
    name: 'Bo',
    email: 'bo@acme.example',
    role: 'member',
  });
  const scopes = ['automations:write', 'issues:write', 'workspace:read'];
  const key = await app.call('POST', `${v1}/api-keys`, { name: 'Test', scopes, memberId: json.id });
  const body = { name: 'mine', origin: 'https://evil.example' };
  expect((await app.clientOf(key.json.key)('POST', `${v1}/automation-hosts`, body)).status).toBe(403);
  const own = await app.call('POST', `${v1}/automation-hosts`, { name: 'own', origin: app.url });
  expect(own.status).toBe(422);
});

async function lastRun(actions: readonly object[], issue: object = {}): Promise<Json> {
  const { id } = await enabled(app, { actions });
  received.length = urls.length = 0;
  await createIssue(app, issue);
  const { data } = (await app.call('GET', `${v1}/plugins/${id}/runs?limit=1`)).json;
  await remove(id);
  return data[0];
}
const get = (host: string, path: string, more: object = {}) => ({
  ...{ type: 'http', host, path, method: 'GET' },
  ...more,
});

test('a host without a path does not extend the path of a host with a secret on the same origin', async () => {
  const host = await addHost({ name: 'narrow', path: '/v1/', header: 'authorization' });
  await app.call('PUT', `${v1}/automation-hosts/${host.id}/secret`, { value: 'narrow-secret' });
  await addHost({ name: 'open' });
  const run = await lastRun([get('narrow', '/outside/echo'), get('open', '/x')]);
  expect([run.status, run.error.message]).toEqual(['dead', expect.stringContaining('/outside/echo')]);
  expect(received).toEqual([]);
  const slash = await lastRun([get('narrow', '/v1/{{ issue.title }}')], { title: 'a/b' });
  expect(slash.error.message).toContain('Use a value without slashes.');
  await lastRun([get('narrow', '/v1/a'), get('open', '/x')]);
  expect(received.map(({ path, authorization }) => [path, authorization])).toEqual([
    ['/v1/a', 'narrow-secret'],
    ['/x', null],
  ]);
});

test('values in a path cannot change its segments or its query', async () => {
  const run = (path: string, title: string) => lastRun([get('open', path)], { title });
  await run('/v1/items/{{ issue.title }}?q={% echo issue.title %}&n={{ 7 }}', 'a?b=c&d/e #f');
  const encoded = 'a%3Fb%3Dc%26d%2Fe%20%23f';
  expect(urls).toEqual([`${origin}/v1/items/${encoded}?q=${encoded}&n=7`]);
  await run('/{{ issue.title | raw }}', 'a/b');
  expect(urls).toEqual([`${origin}/a/b`]);
  for (const title of ['../../admin/users/1?force=true', '..', '%2e%2e/x', '..;/x'])
    expect([title, (await run('/v1/items/{{ issue.title }}', title)).status]).toEqual([title, 'dead']);
  for (const path of ['/v1/../x', '/v1/%2E%2e/x', '/v1/..%252fx', '/v1/.%2e;a/x'])
    expect([path, (await run(path, 'a')).status]).toEqual([path, 'dead']);
  expect(received).toEqual([]);
});

test('a host with a header and no secret gets no request', async () => {
  await addHost({ name: 'unset', header: 'authorization' });
  const run = await lastRun([get('unset', '/x')]);
  expect([run.status, run.error.message]).toEqual([
    'dead',
    expect.stringContaining('The host unset has no secret. An admin sets it with'),
  ]);
  expect(received).toEqual([]);
});

test('a header with an invalid name, line breaks or non-ASCII characters ends the run at once', async () => {
  for (const [name, description] of [
    ['x-a', 'a\r\nAuthorization: b'],
    ['x-a', 'é'],
    ['x-a\r\ny', 'b'],
  ] as const) {
    const action = get('open', '/x', { headers: { [name]: '{{ issue.description }}' } });
    const run = await lastRun([action], { description });
    const message = expect.stringMatching(/Action 1 \(http\) on .*x-a/);
    expect([run.status, run.error.message]).toEqual(['dead', message]);
  }
  expect(received).toEqual([]);
});

test('a host is refused if its origin, path or header is ambiguous or reserved', async () => {
  const refused = {
    origin: [
      ...['http://[', 'https://%', 'http://127.0.0.1:99999', 'https://user:pass@evil.example'],
      ...['https://good.example\\@evil.example', 'https://EXAMPLE.com', 'https://example.com:443'],
      'http://0x7f000001',
    ],
    path: ['/v1/../x', '/%2e%2e/', '/a?b=c', '/a#b', '//evil', '/v1/%2f', '/a;b'],
    header: ['host', 'Cookie', 'content-length', 'transfer-encoding', 'connection'],
  };
  for (const [field, values] of Object.entries(refused))
    for (const value of values) {
      const body = { name: 'bad', origin: 'https://ok.example', [field]: value };
      const { status, json } = await app.call('POST', `${v1}/automation-hosts`, body);
      expect([value, status, json.error?.details?.[0]]).toMatchObject([
        ...[value, 422],
        { path: field, fix: expect.stringMatching(/^(Use|Give|Leave) /) },
      ]);
    }
  const { json } = await app.call('POST', `${v1}/automation-hosts`, {
    name: 'bad',
    origin: 'https://EXAMPLE.com:443',
  });
  expect(JSON.stringify(json)).toContain('https://example.com.');
});

test('the server adds the secret of a host only within the path of that host', () => {
  const origin = 'https://chat.acme.example';
  const host = {
    ...{ id: 'ath_1', header: 'authorization', format: null, origin },
    path: '/v1/',
    secret: 'A',
  };
  const install = {
    ...{ id: 'atm_1', secretsSet: { A: 1 }, hosts: new Map([['chat', host]]) },
    manifest: { net: [{ origin }], secrets: { A: { hosts: [origin], header: 'authorization' } } },
  } as unknown as Install;
  const sealing = { sign: () => 'tag' } as unknown as Sealing;
  const scope = { workspaceId: 'wsp_1' } as Scope;
  const authorization = secretsForGuest(sealing, scope, install)!.refs['A']!;
  const send = (path: string) => () =>
    permittedRequest(
      { url: origin + path, headers: { authorization } },
      { scope, install, sealing, ownOrigin: 'https://own.example' },
    );
  expect(send('/v1/a')().inHeaders.get('authorization')).toMatchObject({ name: 'A' });
  for (const path of ['/x', '/v1/../x', '/v1/..%2fx']) expect(send(path)).toThrow('outside of the path');
});
