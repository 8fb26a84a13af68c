// Cursors (docs/spec/api.md › Lists): a cursor that is altered, or that belongs to another list, workspace, filter or
// sort, is answered with 400. Its own list continues after its row even if the row changes. Generated from the routes
// with pages.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { TSchema } from 'typebox';
import type { Route } from '../../core/kernel/http/route.ts';
import { startApp, type Client, type Json, type Reply, type TestApp } from '../app.ts';
import { fillPath, seed, type Seeds } from './seeds.ts';

let app: TestApp;
let other: Client;
let own: Seeds;
let theirs: Seeds;
let lists: Route[];
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url }) => new Response(null, { status: url.endsWith('/gone') ? 410 : 200 }),
});

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  other = app.clientOf((await app.addWorkspace('Other', 'OTHER')).apiKey);
  const url = `http://127.0.0.1:${receiver.port}/`;
  own = await seed(app, app.call, 'ENG', url);
  theirs = await seed(app, other, 'OTHER', url);
  // The first issue below disables this endpoint, which adds an inbox item.
  await app.call('POST', '/api/v1/webhooks', { url: `${url}gone`, events: ['issue.created'] });
  for (let i = 0; i < 4; i++) await app.call('POST', '/api/v1/issues', { team: 'ENG', title: `Issue ${i}` });
  await app.settled();
  lists = app.app.routes.filter((route) => route.kind === 'read' && 'after' in propertiesOf(route.query));
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

const propertiesOf = (schema: TSchema | undefined): object =>
  (schema as { properties?: object } | undefined)?.properties ?? {};
/** The search route needs its query in the path. */
const pathOf = (route: Route, ids = own): string =>
  fillPath(route.path, route.params, ids) + ('q' in propertiesOf(route.query) ? '?q=secret' : '');
const withQuery = (path: string, query: string): string => `${path}${path.includes('?') ? '&' : '?'}${query}`;
const refusedAsCursor = ({ status, json }: Reply): boolean =>
  status === 400 && json.error.code === 'invalid_cursor';

test('a list accepts its own cursor under both parameter names and refuses the cursors of other lists', async () => {
  expect(lists.length).toBeGreaterThan(12);
  for (const route of lists) {
    const { json } = await app.call('GET', withQuery(pathOf(route), 'limit=1'));
    const cursor: string | null = json.pageInfo.endCursor;
    expect([route.name, typeof cursor]).toEqual([route.name, 'string']);
    const ask = (path: string, call = app.call): Promise<Reply> =>
      call('GET', withQuery(path, `after=${cursor}`));
    const [next, same] = [
      await ask(pathOf(route)),
      await app.call('GET', withQuery(pathOf(route), `cursor=${cursor}`)),
    ];
    expect([route.name, next.status, same.json]).toEqual([route.name, 200, next.json]);
    for (const foreign of lists)
      if (foreign !== route)
        expect([route.name, foreign.name, refusedAsCursor(await ask(pathOf(foreign)))]).toEqual([
          route.name,
          foreign.name,
          true,
        ]);
    expect([route.name, refusedAsCursor(await ask(pathOf(route, theirs), other))]).toEqual([
      route.name,
      true,
    ]);
  }
});

test('a cursor is bound to its filters and its sort, and not to a page size', async () => {
  const { json } = await app.call('GET', '/api/v1/issues?limit=2&sort=-priority&team=ENG');
  const go = (query: string): Promise<Reply> =>
    app.call('GET', `/api/v1/issues?${query}&after=${json.pageInfo.endCursor}`);
  expect((await go('limit=3&sort=-priority&team=ENG')).json.data.length).toBe(3);
  expect((await go('limit=3&sort=-priority&team=ENG&fields=title')).status).toBe(200);
  for (const query of [
    'sort=priority&team=ENG',
    'sort=-priority',
    'sort=-priority,number&team=ENG',
    'team=ENG',
    'sort=-priority&team=ENG&state=backlog',
    'sort=-priority&filter={"team":"ENG"}&team=eng',
  ])
    expect([query, refusedAsCursor(await go(query))]).toEqual([query, true]);
});

test('a cursor that is altered, truncated or combined from two is refused', async () => {
  const cursorOf = async (limit: number): Promise<string> =>
    (await app.call('GET', `/api/v1/issues?limit=${limit}`)).json.pageInfo.endCursor;
  const cursor = await cursorOf(1);
  const [body, tag] = cursor.split('.') as [string, string];
  const [otherBody, otherTag] = (await cursorOf(2)).split('.') as [string, string];
  const flips = (text: string): string[] => {
    const bytes = Buffer.from(text, 'base64url');
    return Array.from({ length: bytes.length * 8 }, (_, bit) => {
      const copy = Buffer.from(bytes);
      copy[bit >> 3]! ^= 1 << (bit & 7);
      return copy.toString('base64url');
    });
  };
  const letters = [...cursor].flatMap((letter, at) =>
    ['A', 'B', '_', '.', '=', ' ', ''].map((put) => cursor.slice(0, at) + put + cursor.slice(at + 1)),
  );
  const tampered = new Set([
    ...flips(body).map((flipped) => `${flipped}.${tag}`),
    ...flips(tag).map((flipped) => `${body}.${flipped}`),
    ...letters,
    `${body}.${otherTag}`,
    `${otherBody}.${tag}`,
    body,
    `${body}.`,
    `.${tag}`,
    `${cursor}.${tag}`,
    `${cursor}=`,
    Buffer.from('["2026","iss_x"]').toString('base64url'),
  ]);
  tampered.delete(cursor);
  expect(tampered.size).toBeGreaterThan(700);
  for (const wrong of tampered)
    expect([
      wrong,
      refusedAsCursor(await app.call('GET', `/api/v1/issues?after=${encodeURIComponent(wrong)}`)),
    ]).toEqual([wrong, true]);
});

test('a list continues after a row that was deleted or moved while the cursor pointed to it', async () => {
  const all: string[] = (await app.call('GET', '/api/v1/issues')).json.data.map(({ id }: Json) => id);
  const { json } = await app.call('GET', '/api/v1/issues?limit=2');
  await app.call('DELETE', `/api/v1/issues/${all[1]}`);
  const rest = await app.call('GET', `/api/v1/issues?after=${json.pageInfo.endCursor}`);
  expect(rest.json.data.map(({ id }: Json) => id)).toEqual(all.slice(2));
  const sorted = await app.call('GET', '/api/v1/issues?limit=1&sort=title');
  await app.call('PATCH', `/api/v1/issues/${sorted.json.data[0].id}`, { title: 'zzz' });
  const after = await app.call('GET', `/api/v1/issues?sort=title&after=${sorted.json.pageInfo.endCursor}`);
  expect(after.json.data.at(-1).title).toBe('zzz');
  expect(after.json.data.length).toBe(all.length - 1);
});

test('a cursor stays valid while deliveries change their state and names match more objects', async () => {
  const pendingAnswers: (() => void)[] = [];
  const slow = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Promise<Response>((resolve) => pendingAnswers.push(() => resolve(new Response('thanks')))),
  });
  const { json: hook } = await app.call('POST', '/api/v1/webhooks', {
    url: `http://127.0.0.1:${slow.port}/`,
    events: ['issue.created'],
  });
  for (let i = 0; i < 14; i++) await app.call('POST', '/api/v1/issues', { team: 'ENG', title: `Slow ${i}` });
  while (pendingAnswers.length < 8) await Bun.sleep(1);
  const pending = (after = ''): Promise<Reply> =>
    app.call('GET', `/api/v1/deliveries?webhook=${hook.id}&status=pending&limit=2${after}`);
  const seen: string[] = [];
  let page = await pending();
  for (let moved = 8; ; moved++) {
    expect(page.status).toBe(200);
    seen.push(...page.json.data.map(({ id }: Json) => id));
    if (!page.json.pageInfo.hasNextPage) break;
    // One delivery ends, so that the oldest waiting one starts.
    pendingAnswers.shift()!();
    while (pendingAnswers.length < 8) await Bun.sleep(1);
    expect(moved).toBeLessThan(14);
    page = await pending(`&after=${page.json.pageInfo.endCursor}`);
  }
  // The list is newest first, and the four newest deliveries wait all the time.
  expect(seen.length).toBeGreaterThanOrEqual(4);
  expect(new Set(seen).size).toBe(seen.length);
  const all = (await app.call('GET', `/api/v1/deliveries?webhook=${hook.id}&limit=100`)).json.data;
  expect(seen).toEqual(all.slice(0, seen.length).map(({ id }: Json) => id));
  await app.call('DELETE', `/api/v1/webhooks/${hook.id}`);
  for (const answer of pendingAnswers) answer();
  await slow.stop(true);

  const firstPage = await app.call('GET', '/api/v1/issues?limit=1&state=backlog');
  await app.call('POST', '/api/v1/teams', { key: 'NEW', name: 'Has a backlog as well' });
  const next = await app.call(
    'GET',
    `/api/v1/issues?state=backlog&after=${firstPage.json.pageInfo.endCursor}`,
  );
  expect(next.status).toBe(200);
});
