// Fair queue of plugin runs: a sleeping run and a long backlog delay no other plugin.
import { afterEach, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { fileMany, runsOf, untilMs } from './flood.ts';

const long = process.env.TATAMI_LONG !== undefined;

let app: TestApp;
afterEach(() => app.stop());

const quick = (id: string, on = 'issue.created') =>
  packSource(`{ id: '${id}', version: '1.0.0', engines: { tatami: '*' },
    scopes: { 'issues:read': { why: 'test' }, 'labels:read': { why: 'test' } }, on: { '${on}': { handle() {} } } }`);

test('a plugin that sleeps on 300 events delays no plugin of another workspace or of its own', async () => {
  app = await startApp();
  const other = await app.addWorkspace('Other', 'OTHER');
  const neighbour = app.clientOf(other.apiKey);
  await install(
    app.call,
    await packSource(`{ id: 'test.sleeper', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
      on: { 'issue.created': { handle: () => new Promise((wake) => setTimeout(wake, 9_500)) } } }`),
  );
  await install(app.call, await quick('test.same', 'label.created'));
  await install(neighbour, await quick('test.victim'));
  await fileMany(app.call, 'ENG', 300);
  expect(await untilMs(async () => (await app.call('GET', '/readyz')).status === 200, 5_000)).toBeLessThan(
    5_000,
  );
  await Bun.sleep(300);

  await neighbour('POST', '/api/v1/issues', { team: 'OTHER', title: 'Served?' });
  await app.call('POST', '/api/v1/labels', { name: 'Served?', color: '#123456' });
  const served = async (client: typeof neighbour, id: string) =>
    (await runsOf(client, id, 'succeeded')).length === 1;
  const [another, same] = await Promise.all([
    untilMs(() => served(neighbour, 'test.victim'), 25_000),
    untilMs(() => served(app.call, 'test.same'), 25_000),
  ]);
  const slept = (await runsOf(app.call, 'test.sleeper', 'succeeded')).length;
  console.log(
    `beside a sleeping plugin: another workspace's plugin ${another.toFixed()} ms, its own ${same.toFixed()} ms, ${slept} have slept`,
  );
  expect(another).toBeLessThan(25_000);
  expect(same).toBeLessThan(25_000);
  // Each sleep takes 9.5 s, so that on a slow machine the first ones may have ended.
  expect(slept).toBeLessThan(50);
}, 60_000);

test('behind the backlog of one plugin, another plugin of the same workspace runs at once', async () => {
  app = await startApp();
  await install(
    app.call,
    await packSource(`{ id: 'test.busy', version: '1.0.0', engines: { tatami: '*' },
      scopes: { 'issues:write': { why: 'test' } },
      on: { 'issue.created': { handle: async (event, ctx) => {
        await ctx.issues.get(event.data.id);
        await ctx.issues.update(event.data.id, { priority: 'low' });
      } } } }`),
  );
  await install(app.call, await quick('test.other', 'label.created'));
  const backlog = long ? 10_000 : 500;
  await fileMany(app.call, 'ENG', backlog);
  await app.call('POST', '/api/v1/labels', { name: 'Served?', color: '#123456' });
  const waited = await untilMs(
    async () => (await runsOf(app.call, 'test.other', 'succeeded')).length === 1,
    90_000,
  );
  const open = (await runsOf(app.call, 'test.busy', 'queued')).length;
  console.log(`behind a backlog of ${backlog}: ${waited.toFixed()} ms, ${open} still queued`);
  // A full page shows that at least a hundred runs of the backlog still wait.
  expect(open).toBe(100);
  await app.settled();
  for (const status of ['queued', 'retrying', 'dead'])
    expect([status, (await runsOf(app.call, 'test.busy', status)).length]).toEqual([status, 0]);
}, 180_000);

test('the shutdown does not wait for sleeping runs, which the next process executes', async () => {
  app = await startApp();
  await install(
    app.call,
    await packSource(`{ id: 'test.sleeper', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
      on: { 'issue.created': { handle: () => new Promise((wake) => setTimeout(wake, 1_500)) } } }`),
  );
  await fileMany(app.call, 'ENG', 20);
  const isRunning = async (): Promise<boolean> =>
    (await runsOf(app.call, 'test.sleeper', 'queued')).some(({ status }) => status === 'running');
  await untilMs(isRunning, 5_000);
  const startedAt = performance.now();
  app = await app.restart();
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  expect((await runsOf(app.call, 'test.sleeper', 'dead')).length).toBe(0);
  await untilMs(async () => (await runsOf(app.call, 'test.sleeper', 'succeeded')).length > 2, 20_000);
  expect((await runsOf(app.call, 'test.sleeper', 'succeeded')).length).toBeGreaterThan(2);
}, 60_000);
