// The plugin runtime through the API: runs are transactions, ordered per issue, retried, stopped in loops, and limited
// to their grant. With real libsql and a real sidecar; only the clock is a fake.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
let team = 0;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

/** A separate workspace for each test. */
async function workspace(): Promise<{ call: Client; key: string }> {
  const key = `T${++team}`;
  const { apiKey } = await app.addWorkspace(`Test ${team}`, key);
  return { call: app.clientOf(apiKey), key };
}

async function create(call: Client, team: string, title: string, more: object = {}): Promise<Json> {
  const { status, json } = await call('POST', '/api/v1/issues', { team, title, ...more });
  expect(status).toBe(201);
  return json;
}

async function runsOf(call: Client, plugin: string, query = ''): Promise<Json[]> {
  return (await call('GET', `/api/v1/plugins/${plugin}/runs${query}`)).json.data;
}

async function eventsAfter(call: Client, after: number): Promise<Json[]> {
  return (await call('GET', `/api/v1/events?limit=100&after=${after}`)).json.data;
}

async function lastSequence(call: Client): Promise<number> {
  return (await eventsAfter(call, 0)).at(-1).sequence;
}

test('a run commits its effects, its record and its events together, with the plugin as actor and its cause', async () => {
  const { call, key } = await workspace();
  const plugin = await install(
    call,
    await packSource(`{
      id: 'com.test.effects', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
      on: { 'issue.created': { handle: async (event, ctx) => {
        const issue = await ctx.issues.update(event.data.id, { priority: 'high', labels: ['bug'] });
        await ctx.issues.update(event.data.id, { title: issue.title + '!' });
        await ctx.comments.create(event.data.id, { body: 'seen ' + (await ctx.issues.get(event.data.id)).title });
        ctx.log.info('done', event.data.identifier);
      } } },
    }`),
  );
  const from = await lastSequence(call);
  const issue = await create(call, key, 'One');
  await app.settled();

  const readBack = (await call('GET', `/api/v1/issues/${issue.id}`)).json;
  expect(readBack).toMatchObject({ title: 'One!', priority: 'high', version: 2, labels: [{ name: 'bug' }] });
  const comments = (await call('GET', `/api/v1/issues/${issue.id}/comments`)).json.data;
  expect(comments).toMatchObject([{ body: 'seen One!', author: { kind: 'plugin', id: plugin.id } }]);

  // The notification of the issue's creator follows later.
  const events = (await eventsAfter(call, from)).filter(({ type }) => !type.startsWith('inbox.'));
  expect(events.map((event) => event.type)).toEqual([
    'issue.created',
    'issue.updated',
    'issue.labeled',
    'comment.added',
    'automation.run',
  ]);
  const [created, updated] = events;
  expect(updated).toMatchObject({
    actor: { kind: 'plugin', id: plugin.id },
    cause: { rootEventId: created.id, depth: 1, path: [`${plugin.id}:${issue.id}`] },
    data: { previous: { title: 'One', priority: 'none', labels: [] } },
  });

  const [run] = await runsOf(call, 'com.test.effects');
  expect(updated.cause.parentRunId).toBe(run.id);
  expect(run).toMatchObject({
    status: 'succeeded',
    attempt: 1,
    eventId: created.id,
    events: events.slice(1, -1).map(({ id, type }: Json) => ({ id, type })),
    effects: [
      { kind: 'issue', id: issue.id, action: 'update' },
      { kind: 'comment', action: 'create' },
    ],
    logs: [{ level: 'info', message: `done ${key}-1` }],
    error: null,
  });
  expect(run.calls.map((one: Json) => one.op)).toEqual([
    'issues.update',
    'issues.update',
    'issues.get',
    'comments.create',
  ]);
  expect(run.cpuMs).toBeGreaterThan(0);
  expect(run.memoryBytes).toBeGreaterThan(0);
  expect((await call('GET', `/api/v1/runs/${run.id}`)).json).toEqual(run);
});

test('a handler that throws writes nothing, is retried with backoff, and is dead after eight attempts', async () => {
  const { call, key } = await workspace();
  await install(
    call,
    await packSource(`{
      id: 'com.test.throws', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
      on: { 'issue.created': { handle: async (event, ctx) => {
        await ctx.issues.update(event.data.id, { priority: 'urgent' });
        await ctx.kv.set('attempts', ctx.run.attempt);
        throw new Error('no luck on attempt ' + ctx.run.attempt);
      } } },
    }`),
  );
  const from = await lastSequence(call);
  const issue = await create(call, key, 'Fails');
  const attempts: number[] = [];
  for (let attempt = 1; attempt <= 8; attempt++) {
    await app.settled();
    const [run] = await runsOf(call, 'com.test.throws');
    attempts.push(run.attempt);
    expect(run).toMatchObject({
      status: attempt < 8 ? 'retrying' : 'dead',
      error: { code: 'error', message: expect.stringContaining(`attempt ${attempt}`) },
      events: [],
    });
    app.clock.advance(4 * 3_600_000 * 1.2);
  }
  expect(attempts).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect((await call('GET', `/api/v1/issues/${issue.id}`)).json).toMatchObject({
    priority: 'none',
    version: 1,
  });
  expect((await eventsAfter(call, from)).map((event) => event.type)).toEqual([
    'issue.created',
    'automation.failed',
  ]);
  expect((await call('GET', '/api/v1/plugins/com.test.throws/kv/attempts')).status).toBe(404);
});

test('a handler gets the events of one issue in order and one at a time, also across a retry, in parallel with other issues', async () => {
  const { call, key } = await workspace();
  await install(
    call,
    await packSource(`{
      id: 'com.test.order', version: '1.0.0', engines: { tatami: '*' }, partitions: 4, scopes: ${allTrackerScopes},
      on: { 'issue.updated': { handle: async (event, ctx) => {
        if (event.data.title === 'A3' && ctx.run.attempt === 1) throw new Error('not yet');
        const seen = (await ctx.kv.get('seen-' + event.data.id)) ?? [];
        await ctx.kv.set('seen-' + event.data.id, [...seen, event.data.title]);
      } } },
    }`),
  );
  const a = await create(call, key, 'A0');
  const b = await create(call, key, 'B0');
  for (let i = 1; i <= 6; i++)
    for (const [issue, name] of [
      [a, 'A'],
      [b, 'B'],
    ] as const)
      expect((await call('PATCH', `/api/v1/issues/${issue.id}`, { title: `${name}${i}` })).status).toBe(200);
  await app.settled();
  const seen = async (issue: Json): Promise<string[]> =>
    (await call('GET', `/api/v1/plugins/com.test.order/kv/seen-${issue.id}`)).json.value;
  expect(await seen(b)).toEqual(['B1', 'B2', 'B3', 'B4', 'B5', 'B6']);
  // A later event waits for the retry, too.
  expect((await call('PATCH', `/api/v1/issues/${a.id}`, { title: 'A7' })).status).toBe(200);
  await app.settled();
  expect(await seen(a)).toEqual(['A1', 'A2']);
  app.clock.advance(60_000);
  await app.settled();
  expect(await seen(a)).toEqual(['A1', 'A2', 'A3', 'A4', 'A5', 'A6', 'A7']);
});

test('a plugin gets exactly its granted scopes, and the narrowing of the consent applies', async () => {
  const { call, key } = await workspace();
  const document = await packSource(`{
    id: 'com.test.scopes', version: '1.0.0', engines: { tatami: '*' },
    scopes: { 'issues:write': { why: 'test', fields: ['priority'], where: { team: ['${key}'] } }, 'comments:write': { why: 'test' } },
    on: { 'issue.created': { handle: async (event, ctx) => {
      const codes = [];
      const attempt = (call) => call().then(() => codes.push('ok'), (error) => codes.push(error.code));
      await attempt(() => ctx.issues.update(event.data.id, { title: 'mine' }));
      await attempt(() => ctx.issues.create({ team: 'OTHER', title: 'elsewhere' }));
      await attempt(() => ctx.comments.create(event.data.id, { body: 'hello' }));
      await attempt(() => ctx.issues.update(event.data.id, { priority: 'high' }));
      await attempt(() => ctx.issues.update('../api-keys', { priority: 'high' }));
      await ctx.kv.set('codes', codes);
    } } },
  }`);
  await call('POST', '/api/v1/teams', { key: 'OTHER' });
  await install(call, document, { grant: ['issues:write'] });
  await create(call, key, 'Scoped');
  await app.settled();
  const { value } = (await call('GET', '/api/v1/plugins/com.test.scopes/kv/codes')).json;
  expect(value).toEqual([
    'insufficient_scope',
    'insufficient_scope',
    'insufficient_scope',
    'ok',
    'validation_failed',
  ]);

  const reply = await call('POST', '/api/v1/plugins', { package: document, grant: ['teams:write'] });
  expect(reply).toMatchObject({
    status: 422,
    json: { error: { details: [{ path: 'grant.0', issue: 'not_found' }] } },
  });
});

test('a loop of two plugins is stopped, the error names the loop, and a plugin does not receive its own events', async () => {
  const { call, key } = await workspace();
  for (const name of ['ping', 'pong'])
    await install(
      call,
      await packSource(`{
        id: 'com.test.${name}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
        on: { 'issue.updated': { handle: (event, ctx) => ctx.issues.update(event.data.id, { title: '${name} ' + ctx.run.depth }) } },
      }`),
    );
  const issue = await create(call, key, 'Loop');
  await call('PATCH', `/api/v1/issues/${issue.id}`, { title: 'start' });
  await app.settled();
  const runs = [...(await runsOf(call, 'com.test.ping')), ...(await runsOf(call, 'com.test.pong'))];
  const dead = runs.filter((run) => run.status === 'dead');
  expect(runs.length).toBeLessThanOrEqual(26);
  expect(dead.length).toBeGreaterThan(0);
  for (const run of dead) expect(run.error.code).toMatch(/^loop_/);
  expect(dead[0].error.message).toContain('com.test.ping → com.test.pong');
});

test('RetryLater waits for the requested time, and Drop ends the run at once', async () => {
  const { call, key } = await workspace();
  await install(
    call,
    await packSource(`{
      id: 'com.test.later', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
      on: { 'issue.created': { handle: (event, ctx) => {
        if (event.data.title === 'drop') throw new Drop('not for us');
        if (ctx.run.attempt === 1) throw new RetryLater(90_000);
      } } },
    }`),
  );
  await create(call, key, 'drop');
  await create(call, key, 'later');
  await app.settled();
  expect((await runsOf(call, 'com.test.later')).map((run) => [run.status, run.error.code])).toEqual([
    ['retrying', 'retry_later'],
    ['dead', 'drop'],
  ]);
  app.clock.advance(89_000);
  await app.settled();
  expect((await runsOf(call, 'com.test.later'))[0].status).toBe('retrying');
  app.clock.advance(1_000);
  await app.settled();
  expect((await runsOf(call, 'com.test.later'))[0]).toMatchObject({ status: 'succeeded', attempt: 2 });
});

test('a run whose issue changed meanwhile is run again on the new version', async () => {
  const { call, key } = await workspace();
  await install(
    call,
    await packSource(`{
      id: 'com.test.race', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
      on: { 'issue.created': { handle: async (event, ctx) => {
        const issue = await ctx.issues.get(event.data.id);
        await ctx.sleep(150);
        await ctx.issues.update(issue.id, { title: issue.title + ' by plugin' }, { ifVersion: issue.version });
      } } },
    }`),
  );
  const issue = await create(call, key, 'Race');
  for (let reads = 0; reads < 500; reads++) {
    const [run] = await runsOf(call, 'com.test.race');
    if (run?.status === 'running') break;
    await Bun.sleep(1);
  }
  await Bun.sleep(40);
  await call('PATCH', `/api/v1/issues/${issue.id}`, { title: 'Race, renamed' });
  await app.settled();
  app.clock.advance(60_000);
  await app.settled();
  expect((await call('GET', `/api/v1/issues/${issue.id}`)).json.title).toBe('Race, renamed by plugin');
});

test('a schedule runs at its time and on request, once each, and not after its plugin is uninstalled', async () => {
  const { call } = await workspace();
  await install(
    call,
    await packSource(`{
      id: 'com.test.nightly', version: '1.0.0', engines: { tatami: '*' },
      schedules: { nightly: { cron: '0 3 * * *', handle: (_, ctx) => ctx.kv.increment('runs') } },
    }`),
  );
  const counted = async (): Promise<number> =>
    (await call('GET', '/api/v1/plugins/com.test.nightly/kv/runs')).json.value ?? 0;
  const untilThree = (24 + 3) * 3_600_000 - (app.clock.now() % 86_400_000);
  app.clock.advance((untilThree % 86_400_000) - 1);
  await app.settled();
  expect(await counted()).toBe(0);
  app.clock.advance(1);
  await app.settled();
  expect(await counted()).toBe(1);
  const reply = await call('POST', '/api/v1/plugins/com.test.nightly/schedules/nightly/run');
  expect(reply).toMatchObject({ status: 202, json: { status: 'queued', handler: 'nightly' } });
  await app.settled();
  expect((await call('GET', `/api/v1/runs/${reply.json.id}`)).json).toMatchObject({ status: 'succeeded' });
  app.clock.advance(86_400_000);
  await app.settled();
  expect(await counted()).toBe(3);
  expect((await call('POST', '/api/v1/plugins/com.test.nightly/schedules/hourly/run')).status).toBe(404);
  expect((await call('DELETE', '/api/v1/plugins/com.test.nightly')).status).toBe(204);
  app.clock.advance(86_400_000);
  await app.settled();
  expect((await call('GET', '/api/v1/plugins/com.test.nightly')).status).toBe(404);
});

test('three killed runs disable a plugin, with an event that has the reason', async () => {
  const { call, key } = await workspace();
  const plugin = await install(
    call,
    await packSource(`{
      id: 'com.test.looper', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
      on: { 'issue.created': { handle: () => { for (;;); } } }, schedules: { later: { handle: () => {} } },
    }`),
  );
  const from = await lastSequence(call);
  for (let i = 0; i < 3; i++) await create(call, key, `Loop ${i}`);
  await app.settled();
  expect((await call('GET', `/api/v1/plugins/${plugin.id}`)).json).toMatchObject({
    state: 'disabled_sandbox',
    stateReason: expect.stringContaining('killed'),
  });
  const disabled = (await eventsAfter(call, from)).find((event) => event.type === 'plugin.disabled');
  expect(disabled).toMatchObject({
    actor: { kind: 'system' },
    data: { state: 'disabled_sandbox', previous: { state: 'active' } },
  });
  const reply = await call('POST', `/api/v1/plugins/${plugin.id}/schedules/later/run`);
  expect([reply.status, reply.json.error.message]).toEqual([
    409,
    'The plugin is disabled_sandbox: 3 of the last 3 runs had to be killed. Make the plugin active, then retry.',
  ]);
  await create(call, key, 'After');
  app.clock.advance(3_600_000);
  await app.settled();
  const runs = await runsOf(call, plugin.id);
  expect(
    runs.every(({ status, error }) => status === (error.code === 'plugin_inactive' ? 'canceled' : 'dead')),
  ).toBe(true);
  expect(runs.length).toBe(3);
});

test('more runs than fit in memory are all performed once', async () => {
  const { call, key } = await workspace();
  await install(
    call,
    await packSource(`{
      id: 'com.test.backlog', version: '1.0.0', engines: { tatami: '*' }, partitions: 4, scopes: { 'issues:read': { why: 'test' } },
      on: { 'issue.created': { order: 'none', async handle(_, ctx) {
        for (let waits = 0; waits < 100 && !(await ctx.kv.get('open')); waits++) await ctx.sleep(50);
      } } },
    }`),
  );
  await call('PATCH', '/api/v1/plugins/com.test.backlog', { settings: {} });
  // No run ends before all events exist; 512 runs are held in memory.
  const bulks = Array.from({ length: process.env.TATAMI_LONG ? 25 : 7 }, (_, bulk) =>
    Array.from({ length: 100 }, (_, index) => ({ team: key, title: `Issue ${bulk}-${index}` })),
  );
  await Promise.all(bulks.map((issues) => call('POST', '/api/v1/issues/bulk', { issues })));
  expect((await call('PUT', '/api/v1/plugins/com.test.backlog/kv/open', { value: true })).status).toBe(200);
  await app.settled();
  for (const status of ['queued', 'running', 'waiting', 'retrying', 'dead', 'canceled'])
    expect([status, await runsOf(call, 'com.test.backlog', `?status=${status}`)]).toEqual([status, []]);
}, 60_000);
