// Inbound routes of plugins are closed by default, signed or public, limited, and indistinguishable to guessing
// callers.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

let app: TestApp;
const path = '/api/v1/plugins/com.test.inbound';

beforeAll(async () => {
  app = await startApp();
  await install(
    app.call,
    await packSource(`{
      id: 'com.test.inbound', version: '1.0.0', engines: { tatami: '*' },
      scopes: { 'issues:write': { why: 'test' } },
      routes: {
        hook: { method: 'POST', auth: 'hmac', maxBody: 1000, handle: async (request, ctx) => {
          const { title } = JSON.parse(request.body);
          await ctx.issues.create({ team: 'ENG', title });
          return { status: 201, headers: { 'content-type': 'application/json', 'x-plugin-made': 'yes' }, body: JSON.stringify(request) };
        } },
        open: { method: 'GET', auth: 'public', handle: ({ query }) => {
          if (query.say === 'nothing') return undefined;
          if (query.say === 'cookie') return { status: 200, headers: { 'set-cookie': 'a=b' } };
          if (query.say === 'html') return { status: 200, headers: { 'content-type': 'text/html' }, body: '<script>' };
          if (query.say === 'fail') throw new Error('secret detail');
          return { status: 200, body: 'hello' };
        } },
        slow: { method: 'GET', auth: 'public', handle: async (_, ctx) => {
          while (!(await ctx.kv.get('go'))) await ctx.sleep(20);
          await ctx.issues.create({ team: 'ENG', title: 'Slow' });
          return { status: 200, body: 'too late' };
        } },
        writes: { method: 'GET', auth: 'public', handle: async ({ query }, ctx) => {
          await ctx.issues.create({ team: 'ENG', title: 'Not kept' });
          return JSON.parse(query.answer ?? 'null') ?? { status: 200, body: 'x'.repeat(20_480) };
        } },
      },
    }`),
  );
});
afterAll(() => app.stop());

const opened = async (name: string): Promise<{ url: string; secret: string | null }> =>
  (await app.call('POST', `${path}/routes/${name}/open`)).json;
const signed = (secret: string, body: string, seconds = Math.floor(app.clock.nowMs() / 1000)): string =>
  `v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')},t=${seconds}`;
const send = (url: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(app.url + new URL(url).pathname, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
async function neighbour(): Promise<string> {
  const { id } = await install(
    app.call,
    await packSource(`{
      id: 'com.test.neighbour', version: '1.0.0', engines: { tatami: '*' },
      routes: { open: { method: 'GET', auth: 'public', handle: () => ({ status: 200 }) } },
    }`),
  );
  return `/api/v1/plugins/${id}`;
}
const issues = async (): Promise<number> => (await app.call('GET', '/api/v1/issues')).json.data.length;
const get = (url: string, query = ''): Promise<Response> => fetch(app.url + new URL(url).pathname + query);

test('a signed request runs the handler once, and an unsigned request runs nothing', async () => {
  const closed: Json[] = (await app.call('GET', `${path}/routes`)).json.data;
  expect(closed.map(({ url }) => url)).toEqual([null, null, null, null]);
  const { url, secret } = await opened('hook');
  const body = JSON.stringify({ title: 'From outside' });
  const header = signed(secret!, body);
  const unsigned: Record<string, string>[] = [
    {},
    { 'x-webhook-signature': header.replace(/v1=../, 'v1=00') },
    { 'x-webhook-signature': signed('whsec_other', body) },
    { 'x-webhook-signature': signed(secret!, body, Math.floor(app.clock.nowMs() / 1000) - 301) },
    { 'x-webhook-signature': signed(secret!, `${body} `) },
    { 'x-webhook-signature': signed('', body) },
  ];
  for (const headers of unsigned) expect((await send(url, body, headers)).status).toBe(401);
  expect(await issues()).toBe(0);
  const answer = await send(url, body, {
    'x-webhook-signature': header,
    'x-acme-event': 'push',
    authorization: 'Bearer theirs',
    cookie: 'a=b',
  });
  expect([
    answer.status,
    answer.headers.get('x-plugin-made'),
    answer.headers.get('x-content-type-options'),
  ]).toEqual([201, 'yes', 'nosniff']);
  const got = (await answer.json()) as Json;
  expect(got).toMatchObject({ route: 'hook', method: 'POST', body, headers: { 'x-acme-event': 'push' } });
  expect(Object.keys(got.headers)).not.toContain('authorization');
  expect(Object.keys(got.headers)).not.toContain('cookie');
  // A signature is accepted once, also by the next process.
  expect((await send(url, body, { 'x-webhook-signature': header })).status).toBe(401);
  app = await app.restart();
  // Other formats of the header are refused as well.
  const forms = [
    header,
    header.split(',').toReversed().join(' , '),
    header.replace('v1=', `v1=${'0'.repeat(64)},v1=`),
    header.replace('t=', 't=0'),
    `${header},t=0`,
  ];
  for (const form of forms)
    expect([form, (await send(url, body, { 'x-webhook-signature': form })).status]).toEqual([form, 401]);
  expect(await issues()).toBe(1);
  const atOnce = signed(secret!, `${body}\n`);
  const answers = await Promise.all(
    forms.map(() => send(url, `${body}\n`, { 'x-webhook-signature': atOnce })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 401, 401, 401, 401]);
  const again = await opened('hook');
  expect([again.url, again.secret === secret]).toEqual([
    (await app.call('GET', `${path}/routes`)).json.data[0].url,
    false,
  ]);
  expect((await send(url, 'x', { 'x-webhook-signature': signed(secret!, 'x') })).status).toBe(401);
});

test('a body that is too long, of another type or compressed is refused before the run', async () => {
  const { url, secret } = await opened('hook');
  const status = async (body: string, headers: Record<string, string> = {}): Promise<number> =>
    (await send(url, body, { 'x-webhook-signature': signed(secret!, body), ...headers })).status;
  const before = await issues();
  expect(await status('x'.repeat(1_001))).toBe(413);
  expect(await status('<a/>', { 'content-type': 'multipart/form-data; boundary=a' })).toBe(415);
  expect(await status('{}', { 'content-type': 'application/octet-stream' })).toBe(415);
  expect(await status('{}', { 'content-encoding': 'gzip' })).toBe(415);
  // The handler receives the broken JSON, and only its run fails.
  expect(await status('{"title":')).toBe(500);
  expect(await issues()).toBe(before);
});

test('a public route responds with text and JSON only', async () => {
  const { url, secret } = await opened('open');
  expect(secret).toBeNull();
  const plain = await get(url);
  expect([plain.status, plain.headers.get('content-type'), await plain.text()]).toEqual([
    200,
    'text/plain; charset=utf-8',
    'hello',
  ]);
  expect((await get(url, '?say=nothing')).status).toBe(204);
  for (const say of ['cookie', 'html']) {
    const odd = await get(url, `?say=${say}`);
    expect([odd.status, odd.headers.get('set-cookie')]).toEqual([502, null]);
  }
  const failed = await get(url, '?say=fail');
  expect([failed.status, await failed.text()]).toEqual([
    500,
    'The plugin failed. Ask an administrator of the workspace to check the runs of the plugin.\n',
  ]);
});

test('an invalid response fails the run with the reason, and none of its effects is written', async () => {
  const { url } = await opened('writes');
  await app.settled();
  const [before, sequence] = [await issues(), await app.lastSequence()];
  const unsendable: [unknown, string][] = [
    [{ status: 999 }, 'status: Use a whole number from 200 to 599.'],
    [{ status: '200' }, 'status: '],
    [{ status: 200, headers: { 'Content-Type': 'text/html' } }, 'headers.Content-Type: Use text/plain or '],
    [{ status: 200, headers: { Location: '/' } }, 'headers.Location: Set only content-type, cache-control,'],
    [{ status: 200, headers: { 'x-request-id': 'a' } }, 'names that begin with x-plugin-'],
    [{ status: 200, headers: { 'x-a': 'é' } }, 'headers.x-a: Use a string of at most 1000 printable ASCII'],
    [{ status: 200, headers: ['a'] }, 'headers: Return an object with at most 20 headers.'],
    [{ status: 200, body: { a: 1 } }, 'body: Return a string'],
    [{ status: 200, html: '' }, 'html: Return only status, headers and body.'],
    ['hello', 'result: Return { status, headers?, body? }'],
    [null, 'is longer than 20,480 characters'],
  ];
  for (const [answer, words] of unsendable) {
    app.clock.advance(1);
    const response = await get(url, `?answer=${encodeURIComponent(JSON.stringify(answer))}`);
    expect([response.status, await response.text()]).toEqual([
      502,
      'The plugin returned an invalid response. Ask an administrator of the workspace to check the runs of the plugin.\n',
    ]);
    const [run] = (await app.call('GET', `${path}/runs?limit=1`)).json.data;
    expect(run).toMatchObject({ status: 'dead', attempt: 1, events: [], error: { code: 'invalid_result' } });
    expect(run.error.message).toContain(words);
  }
  app.clock.advance(3_600_000);
  await app.settled();
  const failed = unsendable.map(() => 'automation.failed');
  expect([await issues(), await app.eventTypes(sequence)]).toEqual([before, failed]);
  expect((await get(url, '?answer={"status":204}')).status).toBe(204);
  expect(await issues()).toBe(before + 1);
});

test('wrong addresses, closed routes, paused plugins and other methods have the same response', async () => {
  const { url } = await opened('open');
  const look = async (response: Response): Promise<unknown> => {
    const { error } = (await response.json()) as Json;
    return [response.status, { ...error, requestId: '' }];
  };
  const unknown = await look(await get(url.replace(/hooks\/.{32}/, `hooks/${'A'.repeat(32)}`)));
  expect(unknown).toMatchObject([404, { code: 'not_found' }]);
  expect(await look(await get(url.replace(/open$/, 'hook')))).toEqual(unknown);
  expect(await look(await send(url, ''))).toEqual(unknown);
  await app.call('PATCH', path, { state: 'paused_by_admin' });
  expect(await look(await get(url))).toEqual(unknown);
  await app.call('PATCH', path, { state: 'active' });
  expect((await get(url)).status).toBe(200);
  await app.call('DELETE', `${path}/routes/open`);
  expect(await look(await get(url))).toEqual(unknown);
  expect((await app.call('POST', `${path}/routes/opne/open`)).json.error.message).toBe(
    'com.test.inbound has no route opne; its routes are hook, open, slow, writes. Did you mean open?',
  );
  const weak = app.clientOf(await app.mintKey(['plugins:write']));
  expect((await weak('POST', `${path}/routes/open/open`)).status).toBe(403);
});

test('a caller gets 202 after ten seconds, and the run continues', async () => {
  const { url } = await opened('slow');
  const before = await issues();
  const asking = get(url);
  const latest = async (): Promise<Json> => (await app.call('GET', `${path}/runs?limit=1`)).json.data[0];
  while ((await latest()).handler !== 'slow') await Bun.sleep(10);
  app.clock.advance(10_000);
  const reply = await asking;
  expect([reply.status, await reply.text()]).toEqual([202, '']);
  await app.call('PUT', `${path}/kv/go`, { value: true });
  await app.settled();
  expect(await latest()).toMatchObject({ handler: 'slow', status: 'succeeded' });
  expect(await issues()).toBe(before + 1);
  const soon = await get(url);
  expect([soon.status, await soon.text()]).toEqual([200, 'too late']);
});

test('more than 600 requests a minute are refused before their signature is checked, without cost to other plugins', async () => {
  const { url, secret } = await opened('hook');
  const { url: other } = (await app.call('POST', `${await neighbour()}/routes/open/open`)).json;
  // A new rate limit window.
  app.clock.advance(60_000);
  const statuses: number[] = [];
  for (let batch = 0; batch < 12; batch++)
    statuses.push(
      ...(await Promise.all(Array.from({ length: 50 }, async () => (await send(url, '')).status))),
    );
  expect(new Set(statuses)).toEqual(new Set([401]));
  const body = JSON.stringify({ title: 'Over the rate' });
  const sendSigned = () => send(url, body, { 'x-webhook-signature': signed(secret!, body) });
  const before = await issues();
  app.clock.advance(20_000);
  const over = await sendSigned();
  expect([over.status, ((await over.json()) as Json).error.code]).toEqual([429, 'rate_limited']);
  expect(over.headers.get('retry-after')).toBe('40');
  expect(await issues()).toBe(before);
  expect((await get(other)).status).toBe(200);
  app.clock.advance(40_000);
  expect((await sendSigned()).status).toBe(201);
});
