// Tokens do not leak (docs/spec/errors.md › Undisclosed data): no response, log line, event or delivery repeats a
// token from any part of a request, and no cache or other site receives it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startHooks, startReceiver, type Hooks, type Receiver } from '../features/webhooks/receiver.ts';
import { exampleOf, fillPath, seed, type Seeds } from './seeds.ts';

let hooks: Hooks;
let receiver: Receiver;
let token: string;
let seeds: Seeds;

beforeAll(async () => {
  receiver = startReceiver();
  hooks = await startHooks();
  await hooks.register(receiver.url, { events: ['*'] });
  seeds = await seed(hooks.app, hooks.call, 'ENG', receiver.url);
  token = await hooks.app.mintKey(['issues:write', 'events:read']);
});
afterAll(async () => {
  await hooks.app.stop();
  await receiver.stop();
});

/** The secret part of a token. */
const secretOf = (text: string): string => text.split('_')[2]!;

async function raw(
  path: string,
  init: RequestInit,
): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await fetch(hooks.app.url + path, { redirect: 'manual', ...init });
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  if (isStream) await response.body?.cancel();
  return { status: response.status, headers: response.headers, text: isStream ? '' : await response.text() };
}

test('no output repeats a token from any part of a request', async () => {
  const secret = secretOf(token);
  const auth = { authorization: `Bearer ${token}` };
  const json = { 'content-type': 'application/json' };
  const almost = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
  const answers = await Promise.all([
    raw(`/api/v1/issues?access_token=${token}`, {}),
    raw(`/api/v1/issues?team=${token}`, { headers: auth }),
    raw(`/api/v1/issues?after=${token}`, { headers: auth }),
    raw(`/api/v1/issues?filter=${encodeURIComponent(JSON.stringify({ title: { huge: token } }))}`, {
      headers: auth,
    }),
    raw(`/api/v1/issues/${token}`, { headers: auth }),
    raw(`/${token}`, { headers: auth }),
    raw(`/api/v1/issues?limit=1`, { headers: { ...auth, referer: `https://x.example/?t=${token}` } }),
    raw('/api/v1/labels', { headers: auth }),
    raw('/api/v1/issues', { headers: { authorization: `Bearer ${almost}` } }),
    raw('/api/v1/issues', { headers: { authorization: `Basic ${btoa(`x:${token}`)}` } }),
    raw('/api/v1/issues', { method: 'PUT', headers: auth }),
    raw('/api/v1/issues', {
      method: 'POST',
      headers: { ...auth, ...json },
      body: `{"team":"ENG","title":"x"${token}`,
    }),
    raw('/api/v1/issues', {
      method: 'POST',
      headers: { ...auth, ...json },
      body: JSON.stringify({ team: token, title: 'x' }),
    }),
    raw('/api/v1/issues', { method: 'POST', headers: { ...auth, 'content-type': token }, body: '{}' }),
    raw('/api/v1/issues', {
      method: 'POST',
      headers: { ...auth, ...json, 'idempotency-key': token, traceparent: token },
      body: JSON.stringify({ team: 'ENG', title: 'under a key that is a token' }),
    }),
    raw('/api/v1/issues', {
      method: 'POST',
      headers: { ...auth, ...json, 'tatami-mode': token, 'if-match': token },
      body: JSON.stringify({ team: 'ENG', title: 'x' }),
    }),
    raw('/api/v1/events/stream', { headers: { ...auth, 'last-event-id': token } }),
  ]);
  await hooks.app.settled();
  const statuses = new Set(answers.map(({ status }) => status));
  for (const status of [200, 201, 400, 401, 403, 404, 405, 415, 422]) expect([...statuses]).toContain(status);
  for (const { text, headers } of answers) expect(text + JSON.stringify([...headers])).not.toContain(secret);
  const read = async (path: string): Promise<string> => (await hooks.call('GET', path)).text;
  const known = await Promise.all(
    ['events', 'audit-log', 'deliveries', 'api-keys', 'openapi.json'].map((name) => read(`/api/v1/${name}`)),
  );
  const everything = JSON.stringify([
    hooks.app.logs,
    known,
    receiver.received.map(({ body, headers }) => [body, [...headers]]),
  ]);
  expect(everything).not.toContain(secret);
  expect(everything).toContain('under a key that is a token');
});

test('a token in the URL does not authenticate', async () => {
  for (const name of ['access_token', 'token', 'api_key', 'key'])
    expect((await raw(`/api/v1/issues?${name}=${token}`, {})).status).toBe(401);
});

test('no response may be cached by intermediaries or sends a referrer', async () => {
  const answers = await Promise.all([
    raw('/nowhere', {}),
    raw('/api/v1/issues', {}),
    raw('/api/v1/issues', { method: 'PUT' }),
    raw('/', {}),
    raw('/healthz', {}),
    ...hooks.app.app.routes
      .filter(({ method, path, cached }) => method === 'GET' && path.startsWith('/api/') && !cached)
      .map((route) =>
        raw(fillPath(route.path, route.params, seeds), {
          headers: { authorization: `Bearer ${hooks.app.workspace.apiKey}` },
        }),
      ),
    ...hooks.app.app.routes
      .filter(({ method, secret }) => method === 'POST' && secret)
      .map((route) =>
        raw(fillPath(route.path, route.params, seeds), {
          method: 'POST',
          headers: {
            authorization: `Bearer ${hooks.app.workspace.apiKey}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify(exampleOf(route, receiver.url)),
        }),
      ),
  ]);
  expect(answers.length).toBeGreaterThan(40);
  for (const { headers } of answers)
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([
      'no-store',
      'no-referrer',
    ]);
});

test('only responses that are equal for all callers may be cached', async () => {
  const cached = hooks.app.app.routes.filter((route) => route.cached);
  expect(cached.every(({ scope, kind }) => scope === null && kind === 'raw')).toBe(true);
  for (const { path } of cached) {
    const [stranger, known] = await Promise.all([
      raw(path, {}),
      raw(path, { headers: { authorization: `Bearer ${hooks.app.workspace.apiKey}` } }),
    ]);
    expect([path, known.text === stranger.text]).toEqual([path, true]);
    expect(known.headers.get('cache-control')).toMatch(/no-cache|max-age/);
    expect(known.headers.get('referrer-policy')).toBe('no-referrer');
  }
});

test('a 304 omits the body although intermediaries cache nothing', async () => {
  const first = await hooks.call('GET', '/api/v1/workspace');
  const etag = { 'if-none-match': first.headers.get('etag')! };
  expect((await hooks.call('GET', '/api/v1/workspace', undefined, etag)).status).toBe(304);
});
