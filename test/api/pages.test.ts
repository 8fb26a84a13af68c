// A page of long items ends early by bytes, and the next page continues without gaps or repetitions; one item always
// fits. Large responses are complete.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { startApp, type Json, type Reply, type TestApp } from '../app.ts';

const mebi = 1024 * 1024;
let app: TestApp;
let parent: Json;
beforeAll(async () => {
  app = await startApp();
  for (let n = 0; n < 3; n++)
    await app.call('POST', '/api/v1/issues/bulk', {
      issues: Array.from({ length: 8 }, (_, at) => ({
        team: 'ENG',
        title: `Long ${n * 8 + at}`,
        description: `${n * 8 + at} ${'é'.repeat(125_000)}`,
      })),
    });
  parent = (await app.call('GET', '/api/v1/issues?limit=1')).json.data[0];
  for (let n = 0; n < 70; n++)
    await app.call('POST', `/api/v1/issues/${parent.id}/comments`, { body: `${n} ${'x'.repeat(60_000)}` });
});
afterAll(() => app.stop());

async function all(path: string): Promise<{ items: Json[]; bytes: number[]; counts: number[] }> {
  const items: Json[] = [];
  const bytes: number[] = [];
  const counts: number[] = [];
  for (let after = ''; ;) {
    const { status, text, json } = await app.call(
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}limit=100${after}`,
    );
    expect(status).toBe(200);
    items.push(...json.data);
    bytes.push(text.length);
    counts.push(json.data.length);
    if (!json.pageInfo.hasNextPage) return { items, bytes, counts };
    after = `&after=${encodeURIComponent(json.pageInfo.endCursor)}`;
  }
}

test('every list of long items ends its pages by bytes, and the pages contain all items', async () => {
  for (const [path, count] of [
    ['/api/v1/issues', 24],
    ['/api/v1/issues?sort=title', 24],
    [`/api/v1/issues?filter=${encodeURIComponent('{"description":{"contains":"ÉÉ"}}')}`, 0],
    [`/api/v1/issues?filter=${encodeURIComponent('{"description":{"contains":"éé"}}')}`, 24],
    [`/api/v1/issues/${parent.id}/comments`, 70],
    ['/api/v1/events?types=issue.created', 24],
    ['/api/v1/events?types=comment.added', 70],
  ] as const) {
    const { items, bytes, counts } = await all(path);
    expect([path, items.length, new Set(items.map(({ id }) => id)).size]).toEqual([path, count, count]);
    for (const size of bytes) expect(size).toBeLessThan(3 * mebi);
    if (count > 0) expect(counts.length).toBeGreaterThan(1);
  }
});

test('a list without the long fields returns full pages', async () => {
  const { items, counts } = await all('/api/v1/issues?fields=id,title');
  expect([items.length, counts.length]).toEqual([24, 1]);
  expect(items[0]).toEqual({ id: parent.id, title: parent.title });
});

test('an expansion over the byte budget is refused with an instruction', async () => {
  const longest = (await app.call('GET', '/api/v1/issues?limit=3')).json.data as Json[];
  for (let n = 0; n < 30; n++)
    await app.call('POST', '/api/v1/issues', {
      team: 'ENG',
      title: `Child ${n}`,
      parentId: longest[n % 3].id,
    });
  const refused = await app.call('GET', '/api/v1/issues?limit=30&expand=parent');
  expect([refused.status, refused.json.error.code]).toEqual([422, 'budget_exceeded']);
  expect(refused.json.error.message).toContain('smaller limit');
  const few = await app.call('GET', '/api/v1/issues?limit=2&expand=parent');
  expect(few.json.data[0].parent.description).toHaveLength(longest[2].description.length);
});

test('an unread response counts against the limit until it is read or its connection ends', async () => {
  // Each character takes six bytes of JSON, so that the response exceeds the socket buffers.
  const call = app.clientOf((await app.addWorkspace('Greedy', 'GRE')).apiKey);
  const { apiKey } = await app.addWorkspace('Stalling', 'STA');
  const stalling = app.clientOf(apiKey);
  const description = '\u0001'.repeat(250_000);
  for (let n = 0; n < 5; n++)
    await stalling('POST', '/api/v1/issues/bulk', {
      issues: [1, 2].map((at) => ({ team: 'STA', title: `Heavy ${n} ${at}`, description })),
    });
  const { hostname, port } = new URL(app.url);
  const ask = (): Socket => {
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.write(
      `GET /api/v1/issues?limit=100 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`,
    );
    return socket;
  };
  const look = () => stalling('GET', '/api/v1/issues?limit=100');
  const until = async (status: number, meanwhile: () => void = () => undefined): Promise<Reply> => {
    let reply = await look();
    for (let n = 0; n < 200 && reply.status !== status; n++) {
      meanwhile();
      await Bun.sleep(25);
      reply = await look();
    }
    expect(reply.status).toBe(status);
    return reply;
  };

  for (let n = 0; n < 20; n++) expect((await stalling('HEAD', '/api/v1/issues?limit=100')).status).toBe(200);
  let sockets = Array.from({ length: 12 }, ask);
  const { error } = (await until(429)).json;
  expect([error.code, error.message]).toEqual([
    'rate_limited',
    expect.stringContaining('waiting to be read'),
  ]);
  expect((await call('GET', '/api/v1/issues')).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  await until(200);

  sockets = Array.from({ length: 12 }, ask);
  await until(429);
  await until(200, () => app.clock.advance(31_000));
  for (const socket of sockets) socket.destroy();
  await until(200);
  const whole = (await stalling('GET', '/api/v1/issues?limit=2')).json.data;
  expect(whole.map((issue: Json) => issue.description === description)).toEqual([true, true]);
}, 60_000);

test("a plugin's read beyond the read budget is refused with `budget_exceeded`", async () => {
  const tight = await startApp({ flags: { readBudget: '1' } });
  const { install, packSource } = await import('../features/plugins/pack.ts');
  for (let n = 0; n < 12; n++)
    await tight.call('POST', '/api/v1/issues', {
      team: 'ENG',
      title: 'x',
      description: 'Long '.repeat(50_000),
    });
  await install(
    tight.call,
    await packSource(`{
      id: 'com.test.budget', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'to look' } },
      on: { 'issue.created': { handle: async (event, ctx) => {
        const or = Array.from({ length: 10 }, (_, n) => ({ description: { contains: 'needle ' + n } }));
        try { await ctx.issues.list({ filter: { or } }); ctx.log.info('found'); }
        catch (error) { ctx.log.info(error.code, error.message); }
      } } },
    }`),
  );
  await tight.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Go' });
  await tight.settled();
  const plugin = (await tight.call('GET', '/api/v1/plugins')).json.data[0];
  const runs = (await tight.call('GET', `/api/v1/plugins/${plugin.id}/runs`)).json.data;
  expect(JSON.stringify(runs[0].logs)).toContain('budget_exceeded');
  await tight.stop();
});

test('at most a hundred webhooks are enabled, also with concurrent registrations', async () => {
  const many = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  const replies = await Promise.all(
    Array.from({ length: 120 }, () =>
      many.call('POST', '/api/v1/webhooks', { url: 'http://127.0.0.1:9/x', events: ['issue.created'] }),
    ),
  );
  const count = (status: number): number => replies.filter((reply) => reply.status === status).length;
  expect([count(201), count(409)]).toEqual([100, 20]);
  const refused = replies.find(({ status }) => status === 409)!;
  expect(refused.json.error.message).toContain('at most 100 enabled webhooks');
  const { id } = replies.find(({ status }) => status === 201)!.json;
  const switchTo = async (enabled: boolean) =>
    (await many.call('PATCH', `/api/v1/webhooks/${id}`, { enabled })).status;
  expect([await switchTo(false), await switchTo(true)]).toEqual([200, 200]);
  await many.stop();
});
