// The daily usage of an install is limited and readable, and an exhausted budget stops only its own install.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createUsage, type Charge } from '../../../core/features/plugins/budgets/usage.ts';
import { scopeOf } from '../../../core/platform/store/store.ts';
import { systemStatement } from '../../../core/platform/store/statement.ts';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

const dayMs = 86_400_000;
let app: TestApp;
let number = 0;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

async function createPlace(): Promise<{ call: Client; key: string; id: string; path: string }> {
  const key = `B${++number}`;
  const { apiKey } = await app.addWorkspace(`Budgets ${number}`, key);
  const id = `com.test.b${number}`;
  return { call: app.clientOf(apiKey), key, id, path: `/api/v1/plugins/${id}` };
}

const scopes = `{ 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' }, 'labels:read': { why: 'test' } }`;
const greeter = (id: string) =>
  packSource(`{ id: '${id}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${scopes}, on: { 'issue.created': { order: 'none',
    handle: (event, ctx) => ctx.comments.create(event.data.id, { body: 'Hello' }) } } }`);

async function createIssue(call: Client, key: string): Promise<Json> {
  const { json } = await call('POST', '/api/v1/issues', { team: key, title: 'Issue' });
  await app.settled();
  return json;
}
const comments = async (call: Client, issue: Json): Promise<number> =>
  (await call('GET', `/api/v1/issues/${issue.id}/comments`)).json.data.length;
const budgetItems = async (call: Client): Promise<Json[]> =>
  (await call('GET', '/api/v1/inbox')).json.data.filter((item: Json) => item.kind === 'plugin_budget');

test('a plugin without runs left waits for the next day, others continue, and the inbox has one item', async () => {
  const { call, key, id, path } = await createPlace();
  await install(call, await greeter(id));
  await install(call, await greeter(`${id}-other`));
  const set = await call('PATCH', path, { budget: { runs: 2 } });
  expect(set.json.budget).toEqual({ runs: 2, whenSpent: 'stop' });

  const issues: Json[] = [];
  for (let i = 0; i < 4; i++) issues.push(await createIssue(call, key));
  const counts = await Promise.all(issues.map((issue) => comments(call, issue)));
  expect(counts).toEqual([2, 2, 1, 1]);
  expect(await budgetItems(call)).toMatchObject([{ body: expect.stringContaining('2 runs') }]);
  const usage = (await call('GET', `${path}/usage`)).json;
  expect(usage).toMatchObject({
    budget: { runs: 2, cpuMs: expect.any(Number), whenSpent: 'stop' },
    spent: { quantity: 'runs', until: '2026-11-21T00:00:00.000Z' },
    data: [{ day: '2026-11-20', runs: 2, calls: 2, egressBytes: 0 }],
  });
  expect(usage.data[0].cpuMs).toBeGreaterThan(0);

  app.clock.advance(dayMs / 2);
  await app.settled();
  expect(await Promise.all(issues.map((issue) => comments(call, issue)))).toEqual([2, 2, 2, 2]);
  await createIssue(call, key);
  expect((await budgetItems(call)).length).toBe(2);
  await call('PATCH', path, { budget: {} });
  expect((await call('GET', `${path}/usage`)).json.spent).toBeNull();
});

test('a plugin that proposes beyond its budget continues, and writes nothing', async () => {
  const { call, key, id, path } = await createPlace();
  await install(call, await greeter(id));
  await call('PATCH', path, { budget: { runs: 1, whenSpent: 'propose' } });
  expect(await comments(call, await createIssue(call, key))).toBe(1);
  expect(await comments(call, await createIssue(call, key))).toBe(0);
  const runs = (await call('GET', `${path}/runs`)).json.data;
  expect(runs.map((run: Json) => run.status)).toEqual(['proposed', 'succeeded']);
  expect((await call('GET', `${path}/usage`)).json.spent.quantity).toBe('runs');
});

test('a host call beyond the budget is refused inside the run', async () => {
  const { call, key, id, path } = await createPlace();
  const source =
    await packSource(`{ id: '${id}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${scopes}, on: { 'issue.created': {
    handle: async (event, ctx) => {
      await ctx.kv.set('a', 1);
      await ctx.kv.set('b', 1);
      ctx.log.info(await ctx.kv.set('c', 1).then(() => 'ok', (error) => error.code));
    } } } }`);
  await install(call, source);
  await call('PATCH', path, { budget: { calls: 2 } });
  await createIssue(call, key);
  const [run] = (await call('GET', `${path}/runs`)).json.data;
  expect(run.logs).toMatchObject([{ message: 'quota_exceeded' }]);
  expect(run.status).toBe('succeeded');
});

test('usage persists across restarts by day, scope and issue, and an unused scope is suggested for removal', async () => {
  let own = await startApp();
  try {
    const { call } = own;
    await install(call, await greeter('com.test.kept'));
    const { json: issue } = await call('POST', '/api/v1/issues', { team: 'ENG', title: 'Issue' });
    await own.settled();
    own = await own.restart();
    const path = '/api/v1/plugins/com.test.kept';
    const readScopes = async (): Promise<Json> => (await own.call('GET', `${path}/scopes`)).json;
    expect((await own.call('GET', `${path}/usage`)).json.data).toMatchObject([{ runs: 1, calls: 1 }]);
    expect(await readScopes()).toMatchObject({
      data: [
        { scope: 'issues:write', calls: 1, usedAt: '2026-11-20T12:00:00.000Z' },
        { scope: 'comments:write', calls: 1 },
        { scope: 'labels:read', calls: 0, usedAt: null },
      ],
      suggestion: null,
      judged: { from: '2026-12-20T12:00:00.000Z', orAfterRuns: 1000, runs: 1 },
    });
    expect((await own.call('GET', `/api/v1/issues/${issue.identifier}/costs`)).json).toMatchObject({
      data: [{ pluginId: 'com.test.kept', runs: 1, calls: 1 }],
      isComplete: true,
    });
    expect((await own.call('GET', '/api/v1/issues/ENG-99/costs')).status).toBe(404);
    own.clock.advance(29 * dayMs);
    await own.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Later' });
    await own.settled();
    own.clock.advance(2 * dayMs);
    await own.settled();
    const { suggestion } = await readScopes();
    expect(suggestion).toMatchObject({
      grant: ['issues:write', 'comments:write'],
      reason: expect.stringContaining('labels:read'),
    });
    expect((await own.call('PATCH', path, { grant: suggestion.grant })).status).toBe(200);
    expect((await readScopes()).suggestion).toBeNull();
  } finally {
    await own.stop();
  }
});

test('the usage of a run is in the commit that ends it, alone and in a batch', async () => {
  const { call, key, id } = await createPlace();
  const { id: installId } = await install(call, await greeter(id));
  const written = async (): Promise<Json> =>
    app.services.store.readSystem(usageOf, { installId }).then(([row]) => row ?? { runs: 0 });
  const from = await written();
  await createIssue(call, key);
  expect([from.runs, await written()]).toEqual([0, { runs: 1, calls: 1 }]);

  const issues = Array.from({ length: 30 }, (_, index) => ({ team: key, title: `Issue ${index}` }));
  expect((await call('POST', '/api/v1/issues/bulk', { issues })).status).toBe(201);
  await app.settled();
  expect(await written()).toEqual({ runs: 31, calls: 31 });
});

test('usage of runs that end during a write is in the next write, and usage of discarded runs is subtracted', async () => {
  const { call, id } = await createPlace();
  const { id: installId } = await install(call, await greeter(id));
  const { store, log } = app.services;
  const usage = createUsage({ store, log, clock: app.clock });
  const scope = scopeOf((await call('GET', '/api/v1/workspace')).json.id);
  const attempt = async (): Promise<Charge> => {
    const one = { id: installId, budget: { whenSpent: 'stop' as const } };
    const meter = await usage.meter(scope, one);
    meter.takeCall();
    return usage.charge(one, meter, 2);
  };
  const written = async (): Promise<Json> => (await store.readSystem(usageOf, { installId }))[0] ?? null;
  const outcome = { isWritten: true, isCounted: true };

  const [first, second, third] = [await attempt(), await attempt(), await attempt()];
  expect([first, second, third].map(({ ops }) => ops.length)).toEqual([1, 0, 0]);
  second.ended(outcome);
  third.ended({ isWritten: false, isCounted: false });
  expect(await written()).toBeNull();
  await store.commit(first.ops);
  first.ended(outcome);
  await usage.settled();
  expect(await written()).toEqual({ runs: 2, calls: 2 });

  // The batch of the writing run fails: usage for other runs is written later, and its own is discarded.
  const failed = await attempt();
  const beside = await attempt();
  beside.ended(outcome);
  failed.ended({ isWritten: false, isCounted: false });
  await usage.settled();
  expect(await written()).toEqual({ runs: 3, calls: 3 });
});

const usageOf = systemStatement<{ runs: number; calls: number }>(
  'test.usage',
  'it is asked of one install by its id',
  'SELECT runs, calls FROM plugin_usage WHERE install_id = :installId',
);
