// Pages of other origins (docs/spec/api.md › Browsers): each request follows the Fetch standard and sends its preflight
// first.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../app.ts';

const page = 'https://app.example.com';
let app: TestApp;
let strict: TestApp;
beforeAll(async () => {
  app = await startApp({ flags: { rateLimit: 'on', rateRead: '20', rateWrite: '20', rateWorkspace: '200' } });
  strict = await startApp({
    flags: { corsOrigins: `${page}/, capacitor://localhost`, rateLimit: 'on', rateWorkspace: '6' },
  });
});
afterAll(() => Promise.all([app.stop(), strict.stop()]));

/** The method and headers that need no preflight, and the response headers that are readable without permission. */
const simple = { methods: ['GET', 'HEAD', 'POST'], headers: ['accept', 'accept-language'] };
const safelisted = [
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
];

const namesIn = (list: string | null): string[] =>
  (list ?? '').split(',').map((name) => name.trim().toLowerCase());

interface BrowserResponse {
  readonly status: number;
  /** The response headers that the page can read. */
  readonly headers: Headers;
  readonly response: Response;
}

/** Sends a request as a page of `origin` does. Throws where the browser would say "blocked by CORS policy". */
async function fromPage(to: string, init: RequestInit = {}, origin = page): Promise<BrowserResponse> {
  const { method = 'GET' } = init;
  const headers = new Headers(init.headers);
  const customHeaders = [...headers.keys()].filter((name) => !simple.headers.includes(name)).sort();
  const mayRead = (answer: Response): boolean =>
    ['*', origin].includes(answer.headers.get('access-control-allow-origin') ?? '');
  if (customHeaders.length > 0 || !simple.methods.includes(method)) {
    const preflight = await fetch(to, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': customHeaders.join(','),
      },
    });
    if (!preflight.ok || !mayRead(preflight)) throw new Error(`blocked: ${preflight.status}`);
    const allowed = namesIn(preflight.headers.get('access-control-allow-headers'));
    const refused = customHeaders.find(
      (name) => !allowed.includes(name) && (name === 'authorization' || !allowed.includes('*')),
    );
    if (refused !== undefined) throw new Error(`blocked: ${refused}`);
    const methods = preflight.headers.get('access-control-allow-methods')?.split(', ') ?? [];
    if (!simple.methods.includes(method) && !methods.includes(method)) throw new Error(`blocked: ${method}`);
    expect(Number(preflight.headers.get('access-control-max-age'))).toBeGreaterThan(600);
  }
  headers.set('origin', origin);
  const response = await fetch(to, { ...init, headers });
  if (!mayRead(response)) throw new Error('blocked: the response');
  expect(response.headers.has('access-control-allow-credentials')).toBe(false);
  const exposed = [...safelisted, ...namesIn(response.headers.get('access-control-expose-headers'))];
  const readable = new Headers([...response.headers].filter(([name]) => exposed.includes(name)));
  return { status: response.status, headers: readable, response };
}

const blocked = (seen: Promise<BrowserResponse>): Promise<string> =>
  seen.then(
    () => 'not blocked',
    (error: Error) => error.message,
  );
const keyOf = (of: TestApp): string => `Bearer ${of.workspace.apiKey}`;

test('a page creates, reads, updates and deletes objects, and reads the headers of the responses', async () => {
  const usual = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'x-request-id'];
  const authorization = keyOf(app);
  const json = { authorization, 'content-type': 'application/json' };
  const issues = `${app.url}/api/v1/issues`;
  const create = { method: 'POST', body: JSON.stringify({ team: 'ENG', title: 'From a page' }) };
  const created = await fromPage(issues, { ...create, headers: { ...json, 'idempotency-key': 'k1' } });
  expect(created.status).toBe(201);
  for (const name of [...usual, 'etag', 'location', 'tatami-mode'])
    expect([name, created.headers.has(name)]).toEqual([name, true]);
  const again = await fromPage(issues, { ...create, headers: { ...json, 'idempotency-key': 'k1' } });
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  const issueUrl = created.headers.get('location')!;
  const etag = created.headers.get('etag')!;
  const changed = await fromPage(issueUrl, {
    method: 'PATCH',
    body: '{"title":"Changed"}',
    headers: { ...json, 'if-match': etag, traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` },
  });
  expect(changed.status).toBe(200);
  const now = changed.headers.get('etag')!;
  expect((await fromPage(issueUrl, { headers: { authorization, 'if-none-match': now } })).status).toBe(304);
  const last = { method: 'DELETE', headers: { authorization, 'tatami-mode': 'commit', 'x-own': '1' } };
  expect((await fromPage(issueUrl, last)).status).toBe(204);
});

test('a page reads the reason of a refusal, also on an unknown path', async () => {
  const at = `${app.url}/api/v1`;
  const authorization = keyOf(app);
  const json = { authorization, 'content-type': 'application/json' };
  const post = { method: 'POST', headers: json };
  expect((await fromPage(`${at}/issues`)).status).toBe(401);
  expect((await fromPage(`${at}/nothing`, { headers: { authorization } })).status).toBe(404);
  expect((await fromPage(`${at}/issues`, { method: 'PUT', headers: json, body: '{}' })).status).toBe(405);
  const large = JSON.stringify({ title: 'x'.repeat(2_000_000) });
  expect((await fromPage(`${at}/issues`, { ...post, body: large })).status).toBe(413);
  expect((await fromPage(`${at}/issues`, { ...post, body: '{}' })).status).toBe(422);
  const { store } = app.services;
  const { readOne } = store;
  store.readOne = () => Promise.reject(new Error('inside'));
  const fault = await fromPage(`${at}/issues/iss_00000000000000000000000001`, { headers: { authorization } });
  store.readOne = readOne;
  expect(fault.status).toBe(500);
  const stream = await fromPage(`${at}/events/stream`, { headers: { authorization, 'last-event-id': '0' } });
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  await stream.response.body?.cancel();
  expect((await fromPage(`${at}/openapi.json`)).status).toBe(200);
});

test('preflights cost a key nothing, and have a limit for each address', async () => {
  const ask = () =>
    fetch(`${app.url}/api/v1/labels`, {
      method: 'OPTIONS',
      headers: { origin: page, 'access-control-request-method': 'GET' },
    });
  const statuses: number[] = [];
  while (!statuses.includes(429) && statuses.length < 300) statuses.push((await ask()).status);
  expect(statuses.length).toBeGreaterThan(150);
  expect(statuses.filter((status) => status !== 204)).toEqual([429]);
  const { headers } = await app.call('GET', '/api/v1/labels');
  expect(headers.get('ratelimit-remaining')).toBe('19');
  app.clock.advance(60_000);
  expect((await ask()).status).toBe(204);
});

test('requests without an origin are answered as before, and pages for people allow no cross-origin access', async () => {
  const { headers } = await app.call('GET', '/api/v1/teams');
  expect([headers.has('access-control-allow-origin'), headers.has('vary')]).toEqual([false, false]);
  const options = await app.call('OPTIONS', '/api/v1/teams', undefined, { origin: page });
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, POST, HEAD, OPTIONS']);
  expect(await blocked(fromPage(`${app.url}/docs`))).toBe('blocked: the response');
});

test('a list of allowed origins excludes every other origin, and every response varies by origin', async () => {
  const to = `${strict.url}/api/v1/teams`;
  const init = { headers: { authorization: keyOf(strict) } };
  for (const origin of [page, 'capacitor://localhost']) {
    const { status, response } = await fromPage(to, init, origin);
    expect([status, response.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    expect(response.headers.get('vary')).toContain('Origin');
  }
  for (const origin of ['https://evil.example', 'http://app.example.com', `${page}.evil.example`, 'null'])
    expect(await blocked(fromPage(to, init, origin))).toBe('blocked: 403');
  expect((await strict.call('GET', '/api/v1/labels')).headers.get('vary')).toContain('Origin');
});

test('no other origin has access where cross-origin access is off', async () => {
  const closed = await startApp({ flags: { corsOrigins: 'off' } });
  const init = { headers: { authorization: keyOf(closed) } };
  expect(await blocked(fromPage(`${closed.url}/api/v1/teams`, init))).toBe('blocked: 204');
  await closed.stop();
});

test('an invalid origin stops the start', async () => {
  for (const corsOrigins of [
    'app.example.com',
    `${page}/path`,
    `*,${page}`,
    'null',
    `${page} https://b.example`,
  ])
    expect(await startApp({ flags: { corsOrigins } }).catch((error: Error) => error.message)).toMatch(
      /^--cors-origins must be origins such as/,
    );
});
