// Every response has the request id, the three RateLimit headers and one envelope, and no stack or submitted value.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { errorCodes } from '../../core/platform/lib/errors/errors.ts';
import { startApp, type Reply, type TestApp } from '../app.ts';
import { signIn } from '../features/sign-in/person.ts';

let app: TestApp;
let issue: string;
/** The cookie header of a signed-in person. */
let cookie: string;

beforeAll(async () => {
  app = await startApp({ flags: { rateLimit: 'on' } });
  issue = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'One' })).json.id;
  ({ cookie } = await signIn(app));
});
afterAll(() => app.stop());

const json = { 'content-type': 'application/json' };

const cases: [name: string, status: number, ask: () => Promise<Reply>][] = [
  ['200', 200, () => app.call('GET', '/api/v1/issues')],
  ['201', 201, () => app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' })],
  ['204', 204, () => app.call('DELETE', `/api/v1/issues/${issue}`)],
  [
    '304',
    304,
    async () =>
      app.call('GET', '/api/v1/teams', undefined, {
        'if-none-match': (await app.call('GET', '/api/v1/teams')).headers.get('etag')!,
      }),
  ],
  ['HEAD', 200, () => app.call('HEAD', '/api/v1/issues')],
  ['OPTIONS', 204, () => app.call('OPTIONS', '/api/v1/issues')],
  ['broken JSON', 400, () => app.call('POST', '/api/v1/issues', '{"team":')],
  ['broken escape', 400, () => app.call('GET', '/api/v1/issues/%E0%A4%A')],
  ['foreign cursor', 400, () => app.call('GET', '/api/v1/issues?after=abc')],
  ['no token', 401, () => app.clientOf(null)('GET', '/api/v1/issues')],
  ['wrong token', 401, () => app.clientOf('nope')('GET', '/api/v1/issues')],
  ['an unknown path', 404, () => app.call('GET', '/api/v1/nothing')],
  ['an unknown object', 404, () => app.call('GET', '/api/v1/issues/iss_00000000000000000000000001')],
  ['impossible id', 404, () => app.call('GET', '/api/v1/issues/iss_x')],
  ['trailing slash', 404, () => app.call('GET', '/api/v1/issues/')],
  ['wrong method', 405, () => app.call('PUT', '/api/v1/issues', {})],
  [
    'too large',
    413,
    () => app.call('POST', '/api/v1/issues', JSON.stringify({ title: 'x'.repeat(2_000_000) })),
  ],
  ['a missing required value', 422, () => app.call('POST', '/api/v1/issues', undefined, {})],
  [
    'form',
    415,
    () =>
      app.call('POST', '/api/v1/issues', 'team=ENG', { 'content-type': 'application/x-www-form-urlencoded' }),
  ],
  [
    'merge patch',
    415,
    () =>
      app.call('PATCH', `/api/v1/issues/${issue}`, '{}', { 'content-type': 'application/merge-patch+json' }),
  ],
  ['invalid field', 422, () => app.call('POST', '/api/v1/issues', { team: 'ENG' })],
  ['page', 200, () => app.call('GET', '/docs')],
  ['redirect to the sign-in', 303, () => app.clientOf(null)('GET', '/')],
  ['web app', 200, () => app.clientOf(null)('GET', '/', undefined, { cookie })],
  ['screen of an issue', 200, () => app.clientOf(null)('GET', '/issues/ENG-1', undefined, { cookie })],
  ['script', 200, () => app.clientOf(null)('GET', '/docs/viewer.js')],
  ['document', 200, () => app.clientOf(null)('GET', '/api/v1/openapi.json')],
  ['stream', 200, () => app.call('GET', '/api/v1/events/stream')],
  ['an unknown page', 404, () => app.clientOf(null)('GET', '/nothing')],
  ['health', 200, () => app.clientOf(null)('GET', '/healthz')],
];

/** The web app loads remote images after a click, which a policy cannot express. */
const imagesOfApp = "img-src 'self' data: blob: https:";

/** The headers forbid content sniffing, framing and every source that the policy does not name. */
function expectUnframedAndUnsniffed(headers: Headers): void {
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  const policy = headers.get('content-security-policy')?.split('; ') ?? [];
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy.find((rule) => rule.startsWith('default-src '))).toMatch(/^default-src '(none|self)'$/);
  const open = policy.filter((rule) => /^script-src .*unsafe|\*|https?:/.test(rule) && rule !== imagesOfApp);
  expect(open).toEqual([]);
}

for (const [name, status, ask] of cases)
  test(`${name} carries the request id, the RateLimit headers and a policy`, async () => {
    const reply = await ask();
    expect(reply.status).toBe(status);
    expect(reply.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
    for (const header of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
      expect(reply.headers.get(header)).toMatch(/^\d+$/);
    expectUnframedAndUnsniffed(reply.headers);
    expect(reply.headers.has('retry-after')).toBe(false);
    if (status < 400) return;
    const { error } = reply.json;
    expect(Object.keys(reply.json)).toEqual(['error']);
    expect(Object.keys(error)).toEqual(['code', 'message', 'details', 'requestId']);
    expect(error.requestId).toBe(reply.headers.get('x-request-id'));
    const declared: number = errorCodes[error.code as keyof typeof errorCodes].status;
    expect(declared).toBe(status);
    if (status === 405) expect(reply.headers.get('allow')).toContain('POST');
    if (status === 401) expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

test('an unexpected fault is answered with 500 without its text, and is logged with the request id', async () => {
  const { store } = app.services;
  const readOne = store.readOne;
  store.readOne = () => Promise.reject(new Error('secret detail of the inside'));
  const reply = await app.call('GET', '/api/v1/issues/iss_00000000000000000000000009');
  store.readOne = readOne;
  expect(reply).toMatchObject({ status: 500, json: { error: { code: 'internal_error' } } });
  expect(reply.text).not.toContain('secret detail');
  for (const header of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'x-request-id'])
    expect(reply.headers.has(header)).toBe(true);
  expect(
    app.logs.some(
      ({ level, fields }) =>
        level === 'error' && JSON.stringify(fields).includes(reply.headers.get('x-request-id')!),
    ),
  ).toBe(true);
});

test('hostile JSON is answered with 400, never 500', async () => {
  const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const hostile = [
    `{"team":"ENG","title":${deep(65)}}`,
    deep(100_000),
    '{"__proto__":{"admin":true},"title":"x","team":"ENG"}',
    '{"\\u005f_proto__":1}',
    '{"team":"ENG","title":"x","estimate":1e400}',
    '{"title":"\\ud800","team":"ENG"}',
    '{"title":"a","title":"b","team":"ENG"}',
    '{"title":"a\\u0000b","team":"ENG"}',
    '',
    'null x',
    '{"a":1,}',
    "{'a':1}",
    'NaN',
    '{"a":Infinity}',
    '{"a":01}',
  ];
  for (const body of hostile) {
    const { status, json: answer } = await app.call('POST', '/api/v1/issues', body, json);
    expect([body.slice(0, 40), status, answer.error.code]).toEqual([
      body.slice(0, 40),
      400,
      'malformed_request',
    ]);
  }
  for (const body of ['null', '[]', '5', '"x"', 'true'])
    expect((await app.call('POST', '/api/v1/issues', body, json)).status).toBe(422);
  const bytes = await fetch(`${app.url}/api/v1/issues`, {
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${app.workspace.apiKey}` },
    body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  });
  expect(bytes.status).toBe(400);
});

test('a body without a declared length is limited while it streams', async () => {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let i = 0; i < 40; i++) controller.enqueue(new Uint8Array(64 * 1024).fill(0x20));
      controller.close();
    },
  });
  const response = await fetch(`${app.url}/api/v1/issues`, {
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${app.workspace.apiKey}` },
    body: stream,
  });
  expect([response.status, response.headers.has('x-request-id')]).toEqual([413, true]);
});
