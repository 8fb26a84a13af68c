// The event stream has the bytes, ids and order of the feed, from any position and without gaps across reconnects; a
// reader that does not read costs no memory and delays no other reader.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { streamEvents } from '../../sdk/client/stream.ts';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
});
afterAll(() => app.stop());

interface Frame {
  /** The sequence without the log generation. */
  readonly id: string | null;
  readonly event: string | null;
  readonly data: string | null;
  readonly text: string;
}

interface Follower {
  readonly status: number;
  readonly headers: Headers;
  /** Resolves with `count` frames, including comments, or fewer if the stream ends earlier. */
  take(count: number): Promise<Frame[]>;
  /** Like `take`, for events only. */
  events(count: number): Promise<Frame[]>;
  close(): Promise<void>;
}

async function follow(
  query = '',
  options: { of?: TestApp; token?: string; headers?: Record<string, string> } = {},
): Promise<Follower> {
  const { of = app, headers = {} } = options;
  const { token = of.workspace.apiKey } = options;
  const aborter = new AbortController();
  const response = await fetch(`${of.url}/api/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: aborter.signal,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  const next = async (): Promise<Frame | null> => {
    for (;;) {
      const end = buffer.indexOf('\n\n');
      if (end >= 0) {
        const text = buffer.slice(0, end);
        buffer = buffer.slice(end + 2);
        const field = (name: string): string | null =>
          text
            .split('\n')
            .find((line) => line.startsWith(`${name}: `))
            ?.slice(name.length + 2) ?? null;
        return { id: field('id')?.split(':')[0] ?? null, event: field('event'), data: field('data'), text };
      }
      const { value, done } = await reader.read();
      if (done) return null;
      buffer += value;
    }
  };
  const take = async (count: number, wanted: (frame: Frame) => boolean = () => true): Promise<Frame[]> => {
    const frames: Frame[] = [];
    while (frames.length < count) {
      const frame = await next();
      if (!frame) break;
      if (wanted(frame)) frames.push(frame);
    }
    return frames;
  };
  return {
    status: response.status,
    headers: response.headers,
    take,
    events: (count) => take(count, ({ data }) => data !== null),
    async close() {
      aborter.abort();
      await reader.cancel().catch(() => undefined);
    },
  };
}

const file = (title: string, of = app) => of.call('POST', '/api/v1/issues', { team: 'ENG', title });
const bulk = (count: number, of = app) =>
  of.call('POST', '/api/v1/issues/bulk', {
    issues: Array.from({ length: count }, (_, n) => ({ team: 'ENG', title: `Bulk ${n}` })),
  });

async function feed(after: number, of = app): Promise<Json[]> {
  const events: Json[] = [];
  for (let more = true; more;) {
    const { json } = await of.call(
      'GET',
      `/api/v1/events?limit=100&after=${events.at(-1)?.sequence ?? after}`,
    );
    events.push(...json.data);
    more = json.pageInfo.hasNextPage && json.data.length > 0;
  }
  return events;
}

test('a new event arrives with the bytes of the feed and its sequence as id', async () => {
  const from = await app.lastSequence();
  const follower = await follow();
  expect([
    follower.status,
    follower.headers.get('content-type'),
    follower.headers.get('cache-control'),
  ]).toEqual([200, 'text/event-stream', 'no-store']);
  expect(follower.headers.get('x-request-id')).toStartWith('req_');
  expect(follower.headers.get('ratelimit-limit')).toBeTruthy();
  await file('line one\nline two   ');
  await file('second');
  const frames = await follower.events(2);
  const events = await feed(from);
  expect(frames.map(({ data }) => data)).toEqual(events.map((event) => JSON.stringify(event)));
  expect(frames.map(({ id, event }) => [id, event])).toEqual(
    events.map(({ sequence, type }) => [String(sequence), type]),
  );
  await follower.close();
});

test('a stream starts at any id, sequence or cursor, and Last-Event-ID has precedence', async () => {
  await bulk(3);
  const events = await feed(0);
  const [first, second] = events.slice(-3);
  const { endCursor } = (await app.call('GET', `/api/v1/events?limit=1&after=${first.sequence - 1}`)).json
    .pageInfo;
  for (const [query, headers] of [
    [`?after=${first.sequence}`, {}],
    [`?after=${first.id}`, {}],
    [`?after=${encodeURIComponent(endCursor)}`, {}],
    ['?after=0', { 'last-event-id': String(first.sequence) }],
  ] as const) {
    const follower = await follow(query, { headers });
    expect([query, (await follower.events(1))[0]!.id]).toEqual([query, String(second.sequence)]);
    await follower.close();
  }
});

test('a reader that reconnects repeatedly during writes gets every event once', async () => {
  const from = await app.lastSequence();
  const writing = (async () => {
    for (let n = 0; n < 30; n++) await bulk(20);
  })();
  const got: string[] = [];
  for (let last = String(from); got.length < 600;) {
    const follower = await follow('', { headers: { 'last-event-id': last } });
    const frames = await follower.events(Math.min(97, 600 - got.length));
    got.push(...frames.map(({ id }) => id!));
    last = got.at(-1)!;
    await follower.close();
  }
  await writing;
  expect(got).toEqual((await feed(from)).map(({ sequence }) => String(sequence)));
});

test('a reader without any event so far misses nothing across a restart of the server', async () => {
  const probe = Bun.serve({ port: 0, fetch: () => new Response() });
  const port = String(probe.port);
  await probe.stop(true);
  const before = await startApp({ flags: { port } });
  const [opened, filed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = (async () => {
    for await (const event of streamEvents({
      server: before.url,
      token: before.workspace.apiKey,
      onOpen: opened.resolve,
      // The reader reconnects only after the event that it must not miss.
      sleep: () => filed.promise,
    }))
      return JSON.parse(event.payload).data.title;
  })();
  await opened.promise;
  const after = await before.restart();
  await file('while nobody was connected', after);
  filed.resolve();
  // Received live if the earlier event was missed.
  const later = setInterval(() => void file('later', after), 500);
  expect(await first).toBe('while nobody was connected');
  clearInterval(later);
  await after.stop();
});

test('only requested and readable events arrive, and a silent reader still receives its position', async () => {
  const from = await app.lastSequence();
  const token = await app.mintKey(['events:read', 'labels:read']);
  const [some, few] = await Promise.all([
    follow('?types=label.*,team.*'),
    follow(`?after=${from}`, { token }),
  ]);
  await file('not for them');
  await app.call('POST', '/api/v1/labels', { name: 'for them' });
  expect([(await some.events(1))[0]!.event, (await few.events(1))[0]!.event]).toEqual([
    'label.created',
    'label.created',
  ]);
  await bulk(100);
  const last = await app.lastSequence();
  // The heartbeat may find the rest of the bulk unprocessed.
  const nextFrame = some.take(1);
  while (
    !(await Promise.race([
      nextFrame.then(() => true),
      new Promise((resolve) => setImmediate(resolve, false)),
    ]))
  )
    app.clock.advance(15_000);
  const [{ id, data }] = (await nextFrame) as [Frame];
  expect([Number(id) > from && Number(id) <= last, data]).toEqual([true, null]);
  await Promise.all([some.close(), few.close()]);
});

test('an invalid stream request is refused like any other, and plugins cannot open a stream', async () => {
  const token = await app.mintKey(['issues:read']);
  const ask = async (query: string, key: string | null): Promise<[number, string]> => {
    const { status, json } = await app.clientOf(key)('GET', `/api/v1/events/stream${query}`);
    return [status, json?.error.code];
  };
  expect(await ask('', null)).toEqual([401, 'unauthorized']);
  expect(await ask('', token)).toEqual([403, 'insufficient_scope']);
  expect(await ask('?types=issue.exploded', app.workspace.apiKey)).toEqual([422, 'validation_failed']);
  expect(await ask('?after=evt_00000000000000000000000001', app.workspace.apiKey)).toEqual([
    422,
    'validation_failed',
  ]);
  expect(await ask('?after=x', app.workspace.apiKey)).toEqual([400, 'invalid_cursor']);
  expect((await app.call('HEAD', '/api/v1/events/stream')).status).toBe(200);
});

test('a stream contains only events of its workspace', async () => {
  const other = await app.addWorkspace('Other', 'OTH');
  const [ours, theirs] = await Promise.all([follow(), follow('', { token: other.apiKey })]);
  await file('ours');
  await app.clientOf(other.apiKey)('POST', '/api/v1/issues', { team: 'OTH', title: 'theirs' });
  const titles = (frames: Frame[]): string[] => frames.map(({ data }) => JSON.parse(data!).data.title);
  expect([titles(await ours.events(1)), titles(await theirs.events(1))]).toEqual([['ours'], ['theirs']]);
  await Promise.all([ours.close(), theirs.close()]);
});

test('a heartbeat arrives after 15 seconds of silence, and a revoked or expired key ends its stream', async () => {
  const expiresAt = new Date(app.clock.now() + 60_000).toISOString();
  const mint = async (more: object): Promise<Json> =>
    (
      await app.call('POST', '/api/v1/api-keys', {
        name: 'short',
        scopes: ['events:read', 'issues:read'],
        ...more,
      })
    ).json;
  const [revoked, expiring] = [await mint({}), await mint({ expiresAt })];
  const [one, two] = [await follow('', { token: revoked.key }), await follow('', { token: expiring.key })];
  await Promise.all([one.take(1), two.take(1)]);
  const beat = one.take(1);
  while (
    !(await Promise.race([beat.then(() => true), new Promise((resolve) => setImmediate(resolve, false))]))
  )
    app.clock.advance(15_000 / 50);
  expect((await beat)[0]!.text).toBe(':');
  await app.call('DELETE', `/api/v1/api-keys/${revoked.id}`);
  await file('not for a revoked key');
  expect(await one.events(1)).toEqual([]);
  const rest = two.events(100);
  while (
    !(await Promise.race([rest.then(() => true), new Promise((resolve) => setImmediate(resolve, false))]))
  )
    app.clock.advance(15_000);
  expect((await rest).length).toBeLessThan(5);
});

test('a reader that does not read is disconnected without cost to memory or others, and continues at its position', async () => {
  const from = await app.lastSequence();
  const stuck = connect(Number(new URL(app.url).port), '127.0.0.1');
  stuck.pause();
  stuck.write(
    `GET /api/v1/events/stream?after=${from} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.workspace.apiKey}\r\n\r\n`,
  );
  const description = 'x'.repeat(200_000);
  const before = process.memoryUsage.rss();
  for (let n = 0; n < 150; n++)
    await app.call('POST', '/api/v1/issues', { team: 'ENG', title: `Big ${n}`, description });
  const healthy = await follow();
  await file('heard at once');
  expect(JSON.parse((await healthy.events(1))[0]!.data!).data.title).toBe('heard at once');
  // 30 MB of events; the sockets and the current piece hold a part of them.
  Bun.gc(true);
  expect((process.memoryUsage.rss() - before) / 1e6).toBeLessThan(350);
  const cut = (): boolean => app.logs.some(({ message }) => message === 'slow stream reader disconnected');
  for (let n = 0; n < 100 && !cut(); n++) {
    app.clock.advance(31_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(cut()).toBe(true);
  await healthy.close();
  const closed = new Promise<void>((resolve) => void stuck.once('close', () => resolve()));
  let text = '';
  stuck.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  stuck.resume();
  await closed;
  const ids = [...text.matchAll(/^id: (\d+):\w+$/gm)].map(([, id]) => Number(id));
  const again = await follow('', { headers: { 'last-event-id': String(ids.at(-2)) } });
  const expected = (await feed(ids.at(-2)!)).map(({ sequence }) => String(sequence));
  expect((await again.events(expected.length)).map(({ id }) => id)).toEqual(expected);
  // The position, followed by the first event after it.
  expect(ids.slice(0, 2)).toEqual([from, from + 1]);
  await again.close();
}, 60_000);

test('a hundred streams each get every event; a token has twenty, a workspace a hundred, and a further member one', async () => {
  const local = await startApp();
  const followers: Follower[] = [];
  let full: Client = local.call;
  for (let key = 0; key < 5; key++) {
    const { json: member } = await local.call('POST', '/api/v1/members', { name: `Follower ${key}` });
    const keyInput = { name: 'k', memberId: member.id, scopes: ['events:read', 'issues:read'] };
    const token: string = (await local.call('POST', '/api/v1/api-keys', keyInput)).json.key;
    full = local.clientOf((await local.call('POST', '/api/v1/api-keys', keyInput)).json.key);
    for (let n = 0; n < 20; n++) followers.push(await follow('?types=issue.*', { of: local, token }));
    const more = await local.clientOf(token)('GET', '/api/v1/events/stream');
    const { status, json, headers } = more;
    expect([status, json.error.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '1']);
  }
  expect((await full('GET', '/api/v1/events/stream')).status).toBe(429);
  // A member without a stream has a reserved quota beyond the hundred.
  expect((await local.call('GET', '/api/v1/events/stream')).status).toBe(200);
  await bulk(50, local);
  const expected = (await feed(0, local)).filter(({ type }) => type === 'issue.created').map(({ id }) => id);
  for (const follower of followers)
    expect((await follower.events(50)).map(({ data }) => JSON.parse(data!).id)).toEqual(expected);
  await followers[0]!.close();
  for (let n = 0; ; n++) {
    const again = await full('GET', '/api/v1/events/stream');
    if (again.status === 200) break;
    expect(n).toBeLessThan(1_000);
  }
  // Open streams do not delay the shutdown.
  const ends = Promise.all(followers.slice(1).map((follower) => follower.events(1)));
  await local.stop();
  expect((await ends).flat()).toEqual([]);
}, 60_000);

test('a sample reaches the streams that request samples, without an id', async () => {
  const [one, none] = [await follow('?samples=true&types=issue.*'), await follow()];
  await Promise.all([one.take(1), none.take(1)]);
  const send = (body: object, headers?: Record<string, string>) =>
    app.call('POST', '/api/v1/events/samples', body, headers);
  const from = await app.lastSequence();
  expect((await send({ type: 'issue.created' }, { 'tatami-mode': 'simulate' })).status).toBe(200);
  const { status, json } = await send({ type: 'issue.created', data: { priority: 'urgent' } });
  expect([status, json.listeners, json.event.data.priority]).toEqual([200, 1, 'urgent']);
  expect((await send({ type: 'label.created' })).json.listeners).toBe(0);
  const [frame] = await one.events(1);
  expect([frame!.id, frame!.event, JSON.parse(frame!.data!)]).toEqual([null, 'issue.created', json.event]);
  expect(await app.eventTypes(from)).toEqual([]);
  await file('real');
  expect((await none.events(1))[0]!.event).toBe('issue.created');
  expect(JSON.parse((await one.events(1))[0]!.data!).data.title).toBe('real');
  await Promise.all([one.close(), none.close()]);
});
