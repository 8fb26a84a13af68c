import { expect, test } from 'bun:test';
import { createCall } from './call.ts';
import { ApiCallError } from './index.ts';

interface ReceivedRequest {
  key: string | null;
  authorization: string | null;
  body: string;
}

/** Responds to each request with the next of `answers`. */
function server(...answers: Response[]) {
  const seen: ReceivedRequest[] = [];
  const listener = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { headers } = request;
      seen.push({
        key: headers.get('idempotency-key'),
        authorization: headers.get('authorization'),
        body: await request.text(),
      });
      return answers.shift() ?? new Response(null, { status: 500 });
    },
  });
  const waits: number[] = [];
  const call = createCall({
    server: `${listener.url.origin}/`,
    token: 'ttm_x',
    sleep: async (ms) => void waits.push(ms),
  });
  return { seen, waits, call, url: listener.url.origin, [Symbol.dispose]: () => void listener.stop(true) };
}

const limited = (retryAfter: string) =>
  Response.json(
    { error: { code: 'rate_limited', message: 'Too many.' } },
    { status: 429, headers: { 'retry-after': retryAfter } },
  );

test('a write is retried with the same idempotency key after the time that the server requests', async () => {
  using s = server(limited('7'), new Response('busy', { status: 503 }), Response.json({ id: 1 }));
  expect(await s.call<{ id: number }>('POST', '/issues', { title: 'x' })).toEqual({ id: 1 });
  expect(s.waits).toEqual([7_000, 1_000]);
  expect(s.seen).toHaveLength(3);
  expect(new Set(s.seen.map(({ key }) => key)).size).toBe(1);
  expect(s.seen[0]?.key).not.toBeNull();
});

test('a token function is called before each attempt, so that an expired token is not sent again', async () => {
  using s = server(limited('1'), Response.json({}));
  let tokenCalls = 0;
  const call = createCall({
    server: s.url,
    token: async () => `token-${++tokenCalls}`,
    sleep: async () => undefined,
  });
  await call('GET', '/a');
  expect(s.seen.map(({ authorization }) => authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
});

test('the call waits while a token is temporarily unavailable, and passes other errors of the function on', async () => {
  using s = server(Response.json({}), Response.json({}));
  const unreachable = new ApiCallError(0, { code: 'unreachable' });
  const ended = new Error('Log in again.');
  const tokens: (string | Error)[] = ['one', unreachable, 'two', ended];
  const call = createCall({
    server: s.url,
    token: () => {
      const next = tokens.shift() ?? 'none';
      if (next instanceof Error) throw next;
      return next;
    },
    sleep: async () => undefined,
  });
  await call('GET', '/a');
  await call('GET', '/a');
  await expect(call('GET', '/a')).rejects.toBe(ended);
  expect(s.seen.map(({ authorization }) => authorization)).toEqual(['Bearer one', 'Bearer two']);
});

test('two writes have two keys, and a read has none', async () => {
  using s = server(Response.json({}), Response.json({}), Response.json({}));
  await s.call('POST', '/a');
  await s.call('DELETE', '/a');
  await s.call('GET', '/a');
  const [first, second, read] = s.seen.map(({ key }) => key);
  expect(first).not.toBe(second!);
  expect(read).toBeNull();
});

test('permanent errors are not retried, and a long wait is left to the caller', async () => {
  const details = [{ path: 'title', issue: 'required', fix: 'This field is required.' }];
  using s = server(
    Response.json({ error: { code: 'validation_failed', message: 'No.', details } }, { status: 422 }),
    limited('3600'),
    Response.redirect('http://127.0.0.1:1/', 302),
  );
  const failure = async (): Promise<ApiCallError> =>
    s.call('POST', '/issues', {}).then(
      () => Promise.reject(new Error('It succeeded.')),
      (error: ApiCallError) => error,
    );
  expect(await failure()).toMatchObject({ status: 422, code: 'validation_failed', details });
  expect(await failure()).toMatchObject({ status: 429, code: 'rate_limited' });
  expect(await failure()).toMatchObject({ status: 302, code: 'not_tatami' });
  expect(s.waits).toEqual([]);
});

test('a call stops after its attempts', async () => {
  using s = server();
  await expect(s.call('GET', '/issues')).rejects.toMatchObject({ status: 500 });
  expect(s.waits).toEqual([200, 1_000, 3_000, 10_000]);
});
