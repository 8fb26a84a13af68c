// The typed client: constraints of its types (checked by `bun check`) and its requests.
import { afterAll, expect, test } from 'bun:test';
import { createClient, type Client } from './index.ts';

interface ReceivedRequest {
  readonly line: string;
  readonly body: string;
  readonly headers: Headers;
}

const seen: ReceivedRequest[] = [];
let answers: (() => Response | Promise<Response>)[] = [];
const listener = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    const line = `${request.method} ${pathname}${decodeURIComponent(search)}`;
    seen.push({ line, body: await request.text(), headers: request.headers });
    return answers.shift()?.() ?? Response.json({});
  },
});
afterAll(() => listener.stop(true));

const client = createClient({ server: listener.url.origin, token: 'ttm_x' });
const page = (data: unknown[], endCursor: string | null) => () =>
  Response.json({ data, pageInfo: { hasNextPage: endCursor !== null, endCursor } });
const lines = (): string[] => seen.splice(0).map(({ line }) => line);

test('a list is its first page when awaited, and all of its items when iterated', async () => {
  answers = [
    page([{ id: 1 }], 'c1'),
    page([{ id: 2 }], 'c2'),
    page([{ id: 3 }], null),
    page([{ id: 4 }], 'c4'),
  ];
  const ids: unknown[] = [];
  for await (const { id } of client.issues.list({ team: 'ENG', limit: 1, cursor: undefined })) ids.push(id);
  expect(ids).toEqual([1, 2, 3]);
  expect((await client.labels.list()).pageInfo.endCursor).toBe('c4');
  expect(lines()).toEqual([
    'GET /api/v1/issues?team=ENG&limit=1',
    'GET /api/v1/issues?team=ENG&limit=1&after=c1',
    'GET /api/v1/issues?team=ENG&limit=1&after=c2',
    'GET /api/v1/labels',
  ]);
});

test('leaving a list early requests no further page', async () => {
  answers = [page([{ id: 1 }, { id: 2 }], 'c1')];
  for await (const _ of client.issues.list()) break;
  expect(lines()).toEqual(['GET /api/v1/issues']);
});

test('paths, parameters, bodies and options are sent as the operation defines', async () => {
  await client.issues.list({ fields: ['title', 'team'], filter: { priority: { in: ['high'] } } });
  await client.plugins.kv.set('com.acme.x', 'a/b', { value: 1 }, { ifVersion: 3 });
  await client.webhooks.rotate('whe_1');
  await client.issues.update('iss_1', { title: 'x', description: undefined }, { mode: 'simulate' });
  const [, set, rotate, update] = seen;
  expect([set?.headers.get('if-match'), update?.headers.get('tatami-mode')]).toEqual(['"3"', 'simulate']);
  expect([rotate?.body, update?.body]).toEqual(['{}', '{"title":"x"}']);
  expect(lines()).toEqual([
    'GET /api/v1/issues?fields=title,team&filter={"priority":{"in":["high"]}}',
    'PUT /api/v1/plugins/com.acme.x/kv/a%2Fb',
    'POST /api/v1/webhooks/whe_1/rotate',
    'PATCH /api/v1/issues/iss_1',
  ]);
});

test('the priority of a new issue may be a number', async () => {
  for (const priority of [0, 4, 'high'] as const)
    await client.issues.create({ team: 'ENG', title: 'x', priority });
  await client.issues.create({ team: 'ENG', title: 'x' });
  const sent = seen.splice(0).map(({ body }) => JSON.parse(body).priority);
  expect(sent).toEqual(['none', 'urgent', 'high', undefined]);
});

test('a missing id is rejected before the request', async () => {
  for (const id of ['', undefined])
    expect(() => client.issues.delete(id as string)).toThrow(
      'DELETE /issues/{id}: id must be a non-empty string',
    );
  expect(lines()).toEqual([]);
});

test('an abort signal ends a pending call, and the wait for another attempt', async () => {
  const requested = Promise.withResolvers<void>();
  answers = [
    () => {
      requested.resolve();
      return new Promise<Response>(() => {});
    },
  ];
  const stopping = new AbortController();
  const call = client.issues.get('iss_1', {}, { signal: stopping.signal }).catch((error: unknown) => error);
  await requested.promise;
  stopping.abort(new Error('Enough.'));
  expect(await call).toEqual(new Error('Enough.'));

  const waiting = new AbortController();
  const patient = createClient({
    ...{ server: listener.url.origin, token: 'ttm_x' },
    onWait: () => waiting.abort(new Error('No patience.')),
  });
  answers = [() => new Response(null, { status: 429, headers: { 'retry-after': '60' } })];
  const limited = patient.workspace.get({ signal: waiting.signal }).catch((error: unknown) => error);
  expect(await limited).toEqual(new Error('No patience.'));
  seen.length = 0;
});

test('requests that the server would reject do not compile', () => {
  const uses = async (tatami: Client): Promise<unknown> => {
    // @ts-expect-error a new issue needs a title
    await tatami.issues.create({ team: 'ENG' });
    // @ts-expect-error the priority does not exist
    await tatami.issues.create({ team: 'ENG', title: 'One', priority: 'huge' });
    // @ts-expect-error the filter field does not exist
    await tatami.issues.list({ filter: { colour: 'red' } });
    // @ts-expect-error the priority does not exist
    await tatami.issues.list({ filter: { or: [{ priority: ['huge'] }] } });
    // @ts-expect-error an estimate is a number
    await tatami.issues.list({ filter: { estimate: { gt: '3' } } });
    // @ts-expect-error the event type does not exist
    await tatami.webhooks.create({ url: 'https://acme.example', events: ['issue.exploded'] });
    // @ts-expect-error the event type does not exist
    tatami.stream({ types: ['issue.exploded'] });
    // @ts-expect-error a creation has no version to compare
    await tatami.issues.create({ team: 'ENG', title: 'One' }, { ifVersion: 1 });
    // @ts-expect-error the scope does not exist
    await tatami.apiKeys.create({ name: 'ci', scopes: ['issue:read'] });
    const chosen = await tatami.issues.get('iss_1', { fields: ['title'] });
    // @ts-expect-error only the id is always selected
    void chosen.team.key;
    for await (const event of tatami.events.list({ types: ['issue.*', 'comment.added'] })) {
      if (event.type === 'issue.labeled') void [event.data.labels.length, event.data.previous.labels?.length];
      // @ts-expect-error a comment has no labels
      if (event.type === 'comment.added') void event.data.labels;
    }
    return tatami.issues.list({
      filter: { and: [{ title: { contains: 'x' } }, { createdAt: { gt: '2026-11-20T00:00:00Z' } }] },
    });
  };
  expect(uses).toBeFunction();
});
