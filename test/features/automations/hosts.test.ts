// Rules send requests only to hosts that an admin added, with secrets that nobody sees.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { createIssue, enabled, v1 } from './rules.ts';

let app: TestApp;
const received: { method: string; path: string; authorization: string | null; body: string }[] = [];
const receiver = Bun.serve({
  ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 0 },
  async fetch(request) {
    const { method, headers, url } = request;
    const body = await request.text();
    received.push({ method, path: new URL(url).pathname, authorization: headers.get('authorization'), body });
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
