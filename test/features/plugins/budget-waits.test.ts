// Runs that wait for a budget start in order as soon as it is available, and every waiting run shows its reason.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type Reply, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

const until = '2026-11-21T00:00:00.000Z';
const waitsFor = { quantity: 'runs', until };
let app: TestApp;
let number = 0;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const greeter = (id: string): ReturnType<typeof packSource> =>
  packSource(`{ id: '${id}', version: '1.0.0', engines: { tatami: '*' },
    scopes: { 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' } },
    on: {
      'issue.created': { handle: (event, ctx) => ctx.comments.create(event.data.id, { body: 'Hello' }) },
      'issue.updated': { handle: (event, ctx) => ctx.comments.create(event.data.id, { body: event.data.title }) },
    },
    actions: { ping: { target: 'none', handle: () => 'pong' } },
    routes: {
      open: { method: 'GET', auth: 'public', handle: () => ({ status: 200, body: 'hello' }) },
      hook: { method: 'POST', auth: 'hmac', handle: () => ({ status: 200, body: 'hello' }) },
    },
  }`);

interface BudgetedPlugin {
  readonly apiKey: string;
  readonly call: Client;
  readonly path: string;
  readonly issues: readonly Json[];
}

/** Installs a plugin in a separate workspace. */
async function installed(on: TestApp): Promise<Omit<BudgetedPlugin, 'issues'> & { readonly team: string }> {
  const team = `W${++number}`;
  const { apiKey } = await on.addWorkspace(`Waits ${number}`, team);
  const call = on.clientOf(apiKey);
  const id = `com.test.w${number}`;
  await install(call, await greeter(id));
  return { team, apiKey, call, path: `/api/v1/plugins/${id}` };
}

/** A plugin with two waiting runs and an exhausted budget of one run. */
async function spent(on: TestApp = app): Promise<BudgetedPlugin> {
  const { team, apiKey, call, path } = await installed(on);
  await call('PATCH', path, { budget: { runs: 1 } });
  const issues: Json[] = [];
  for (let i = 0; i < 3; i++) {
    issues.push((await call('POST', '/api/v1/issues', { team, title: `Issue ${i}` })).json);
    await on.settled();
  }
  expect(await statuses({ call, path })).toEqual(['waiting', 'waiting', 'succeeded']);
  return { apiKey, call, path, issues };
}
const runsOf = async ({ call, path }: Pick<BudgetedPlugin, 'call' | 'path'>): Promise<Json[]> =>
  (await call('GET', `${path}/runs`)).json.data;
const statuses = async (target: Pick<BudgetedPlugin, 'call' | 'path'>): Promise<string[]> =>
  (await runsOf(target)).map(({ status }) => status);
const comments = async (call: Client, issue: Json): Promise<string[]> =>
  (await call('GET', `/api/v1/issues/${issue.id}/comments`)).json.data.map(({ body }: Json) => body);
const done = ['succeeded', 'succeeded', 'succeeded'];

test.each([
  ['raised', { budget: { runs: 100 } }, 1],
  ['lifted', { budget: { whenSpent: 'stop' } }, 1],
  ['set to propose', { budget: { runs: 1, whenSpent: 'propose' } }, 0],
])('waiting runs start at once when the budget is %s', async (_, change, written) => {
  const { call, path, issues } = await spent();
  await call('PATCH', path, change);
  // Nothing triggers the queue here, as `settled` would.
  while ((await statuses({ call, path })).some((status) => status !== 'succeeded' && status !== 'proposed'))
    await Bun.sleep(10);
  expect((await comments(call, issues[2])).length).toBe(written);
});

test('concurrent runs do not exceed the budget, and the rest wait', async () => {
  const { team, call, path } = await installed(app);
  const making = async (count: number): Promise<Reply[]> =>
    Promise.all(
      Array.from({ length: count }, () => call('POST', '/api/v1/issues', { team, title: 'At once' })),
    );
  const counted = async (): Promise<Record<string, number>> => {
    await app.settled();
    const all = await statuses({ call, path });
    return Object.fromEntries(
      ['waiting', 'succeeded', 'proposed'].map((status) => [
        status,
        all.filter((one) => one === status).length,
      ]),
    );
  };
  await call('PATCH', path, { budget: { runs: 2 } });
  await making(6);
  expect(await counted()).toEqual({ waiting: 4, succeeded: 2, proposed: 0 });
  await call('PATCH', path, { budget: { runs: 5 } });
  expect(await counted()).toEqual({ waiting: 1, succeeded: 5, proposed: 0 });
  await call('PATCH', path, { budget: { runs: 7, whenSpent: 'propose' } });
  await making(3);
  expect(await counted()).toEqual({ waiting: 0, succeeded: 7, proposed: 2 });
  const { data } = (await call('GET', `${path}/runs`)).json;
  expect(data.filter(({ mode }: Json) => mode === 'apply').length).toBe(7);
});

test('a change without more budget leaves runs waiting', async () => {
  const { call, path } = await spent();
  await call('PATCH', path, { modes: { comment: 'propose' } });
  await call('PATCH', path, { state: 'paused_by_admin' });
  await call('PATCH', path, { state: 'active' });
  await call('PATCH', path, { budget: { runs: 1, calls: 5 } });
  await app.settled();
  expect(await statuses({ call, path })).toEqual(['waiting', 'waiting', 'succeeded']);
});

test('later events of an issue wait in order', async () => {
  const { call, path, issues } = await spent();
  const [, second, third] = issues;
  for (const issue of [second, third]) await call('PATCH', `/api/v1/issues/${issue.id}`, { title: 'Later' });
  await app.settled();
  expect((await statuses({ call, path })).filter((status) => status === 'waiting').length).toBe(4);
  await call('PATCH', path, { budget: {} });
  await app.settled();
  expect(new Set(await statuses({ call, path }))).toEqual(new Set(['succeeded']));
  for (const issue of [second, third])
    expect((await comments(call, issue)).toSorted()).toEqual(['Hello', 'Later']);
});

test('waiting runs start at midnight, also after a restart', async () => {
  let own = await startApp();
  try {
    const before = await spent(own);
    own = await own.restart();
    const target = { call: own.clientOf(before.apiKey), path: before.path };
    own.clock.advance(12 * 3_600_000 - 1);
    await own.settled();
    expect(await statuses(target)).toEqual(['waiting', 'waiting', 'succeeded']);
    own.clock.advance(1);
    await own.settled();
    expect(await statuses(target)).toEqual(['waiting', 'succeeded', 'succeeded']);
    own.clock.advance(24 * 3_600_000);
    await own.settled();
    expect(await statuses(target)).toEqual(done);
  } finally {
    await own.stop();
  }
});

test('a restart completes an interrupted release of waiting runs', async () => {
  let own = await startApp();
  try {
    const { apiKey, call, path } = await spent(own);
    const { store } = own.services;
    const { commit } = store;
    store.commit = (ops, settings) =>
      ops.some(({ statement }) => statement.name === 'due_work.wake_for_budget')
        ? Promise.reject(new Error('The process is killed here.'))
        : commit(ops, settings);
    await call('PATCH', path, { budget: {} });
    await own.settled();
    expect(await statuses({ call, path })).toEqual(['waiting', 'waiting', 'succeeded']);
    own = await own.restart();
    await own.settled();
    expect(await statuses({ call: own.clientOf(apiKey), path })).toEqual(done);
  } finally {
    await own.stop();
  }
});

test('a waiting run shows its reason and its end, and actions and routes are refused at once', async () => {
  const { call, path } = await spent();
  const [waiting] = await runsOf({ call, path });
  expect(waiting.waitsFor).toEqual(waitsFor);
  expect((await call('GET', `/api/v1/runs/${waiting.id}`)).json.waitsFor).toEqual(waitsFor);
  expect((await call('GET', path)).json).toMatchObject({ state: 'active', waitsFor });
  expect((await call('GET', '/api/v1/plugins')).json.data).toMatchObject([{ waitsFor }]);

  const reply = await call('POST', `${path}/actions/ping`, {});
  expect([reply.status, reply.json.error.code, reply.headers.get('retry-after')]).toEqual([
    ...[429, 'quota_exceeded', String(12 * 3_600)],
  ]);
  expect(reply.json.error.message).toContain(`1 runs. Retry after ${until}`);

  const send = async (name: string, init?: RequestInit): Promise<unknown> => {
    const { url } = (await call('POST', `${path}/routes/${name}/open`)).json;
    const answer = await fetch(app.url + new URL(url).pathname, init);
    return [answer.status, ((await answer.json()) as Json).error.code, answer.headers.get('retry-after')];
  };
  expect(await send('open')).toEqual([429, 'rate_limited', String(12 * 3_600)]);
  // Callers without a valid signature do not see the reason.
  const json = { 'content-type': 'application/json' };
  expect(await send('hook', { method: 'POST', body: '{}', headers: json })).toEqual([
    401,
    'unauthorized',
    null,
  ]);
  expect((await runsOf({ call, path })).length).toBe(3);

  await call('PATCH', path, { budget: { runs: 1, whenSpent: 'propose' } });
  await app.settled();
  expect((await call('POST', `${path}/actions/ping`, {})).json).toMatchObject({
    result: 'pong',
    waitsFor: null,
  });
  expect((await call('GET', path)).json.waitsFor).toBeNull();
});
