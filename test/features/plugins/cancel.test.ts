// Canceled runs, and runs that wait for their retry while another version is installed.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { tatami } from '../../cli/tatami.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

const call = (...args: Parameters<TestApp['call']>) => app.call(...args);
const put = async (id: string, version: string, definition: string): Promise<void> =>
  void (await install(
    app.call,
    await packSource(
      `{ id: '${id}', version: '${version}', engines: { tatami: '*' }, scopes: ${allTrackerScopes}, ${definition} }`,
    ),
  ));
const schedule = (handle: string): string => `schedules: { work: { cron: '0 3 * * *', handle: ${handle} } }`;
const fire = async (id: string): Promise<Json> =>
  (await call('POST', `/api/v1/plugins/${id}/schedules/work/run`)).json;
const runOf = async (id: string): Promise<Json> => (await call('GET', `/api/v1/runs/${id}`)).json;
const cancel = (id: string) => call('POST', `/api/v1/runs/${id}/cancel`);

test('a run that waits for its retry can be canceled, after which its schedule can run again', async () => {
  await put('com.test.waits', '1.0.0', schedule(`() => { throw new Error('not yet'); }`));
  const run = await fire('com.test.waits');
  await app.settled();
  expect((await runOf(run.id)).status).toBe('retrying');
  const busy = await call('POST', '/api/v1/plugins/com.test.waits/schedules/work/run');
  expect([busy.status, busy.json.error.message]).toEqual([409, expect.stringContaining(run.id)]);

  const canceled = await cancel(run.id);
  expect([canceled.status, canceled.json]).toMatchObject([
    200,
    { status: 'canceled', error: { code: 'canceled' } },
  ]);
  expect(canceled.json.finishedAt).not.toBeNull();
  expect(await cancel(run.id)).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } });
  app.clock.advance(60_000);
  await app.settled();
  expect(await runOf(run.id)).toMatchObject({ status: 'canceled', attempt: 1 });

  const again = await fire('com.test.waits');
  await app.settled();
  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  const { code, out } = await tatami(['runs', 'cancel', again.id], remote);
  expect([code, out]).toEqual([0, expect.stringContaining('canceled: Canceled by')]);
});

test('a run that is canceled during its execution is stopped and writes nothing', async () => {
  await put(
    'com.test.sleeps',
    '1.0.0',
    schedule(`async (_, ctx) => { await ctx.kv.set('kept', true); await ctx.sleep(50_000); }`),
  );
  const run = await fire('com.test.sleeps');
  while ((await runOf(run.id)).status !== 'running') await Bun.sleep(5);
  const startMs = performance.now();
  expect((await cancel(run.id)).json).toMatchObject({ status: 'canceled', error: { code: 'canceled' } });
  await app.settled();
  expect(performance.now() - startMs).toBeLessThan(30_000);
  expect(await runOf(run.id)).toMatchObject({ status: 'canceled', error: { code: 'canceled' }, effects: [] });
  expect((await call('GET', '/api/v1/plugins/com.test.sleeps/kv')).json.data).toEqual([]);
});

test('the next event of an issue starts when the run before it is canceled', async () => {
  const first = `if (event.data.title === 'stuck') throw new Error('stuck');`;
  await put(
    'com.test.ordered',
    '1.0.0',
    `on: { 'issue.updated': { handle(event, ctx) { ${first} ctx.log.info(event.data.title); } } }`,
  );
  const { id } = (await call('POST', '/api/v1/issues', { team: 'ENG', title: 'One' })).json;
  await call('PATCH', `/api/v1/issues/${id}`, { title: 'stuck' });
  await call('PATCH', `/api/v1/issues/${id}`, { title: 'free' });
  await app.settled();
  const path = '/api/v1/plugins/com.test.ordered/runs';
  const [free, stuck] = (await call('GET', path)).json.data;
  expect([free.status, stuck.status]).toEqual(['queued', 'retrying']);
  expect((await cancel(stuck.id)).status).toBe(200);
  await app.settled();
  expect(await runOf(free.id)).toMatchObject({ status: 'succeeded', logs: [{ message: 'free' }] });
});

test('a new version starts waiting retries of the version before at once', async () => {
  const broken = `() => { throw new Error('a fault'); }`;
  await put(
    'com.test.mended',
    '1.0.0',
    `${schedule(broken)}, on: { 'issue.created': { handle: ${broken} } }`,
  );
  await call('POST', '/api/v1/issues', { team: 'ENG', title: 'Waits' });
  const run = await fire('com.test.mended');
  await app.settled();
  const statuses = async (): Promise<string[]> =>
    (await call('GET', '/api/v1/plugins/com.test.mended/runs')).json.data.map(({ status }: Json) => status);
  expect(await statuses()).toEqual(['retrying', 'retrying']);

  const mended = `(_, ctx) => ctx.log.info('mended')`;
  await put(
    'com.test.mended',
    '1.0.1',
    `${schedule(mended)}, on: { 'issue.created': { handle: ${mended} } }`,
  );
  await app.settled();
  expect(await statuses()).toEqual(['succeeded', 'succeeded']);
  expect(await runOf(run.id)).toMatchObject({ attempt: 2, logs: [{ message: 'mended' }], error: null });
});

test('a caller without read access to the input of a plugin cannot cancel its runs', async () => {
  await put('com.test.foreign', '1.0.0', schedule(`() => { throw new Error('a fault'); }`));
  const { id } = await fire('com.test.foreign');
  await app.settled();
  const poor = app.clientOf(await app.mintKey(['plugins:write']));
  expect((await poor('POST', `/api/v1/runs/${id}/cancel`)).status).toBe(403);
  const other = app.clientOf((await app.addWorkspace('Other', 'OTH')).apiKey);
  expect((await other('POST', `/api/v1/runs/${id}/cancel`)).status).toBe(404);
});

const failing = schedule(`(_, ctx) => { ctx.log.info('tried'); throw new Error('not yet'); }`);
const ended: readonly [how: string, code: string, end: (id: string, run: string) => Promise<unknown>][] = [
  [
    'its plugin is paused',
    'plugin_inactive',
    (id) => call('PATCH', `/api/v1/plugins/${id}`, { state: 'paused_by_admin' }),
  ],
  ['its plugin is uninstalled', 'plugin_inactive', (id) => call('DELETE', `/api/v1/plugins/${id}`)],
  ['it is canceled', 'canceled', (_, run) => cancel(run)],
];
for (const [at, [how, code, end]] of ended.entries())
  test(`a run that waits for its retry retains error, log, cost and recording of its last attempt when ${how}`, async () => {
    const id = `com.test.ended-${at}`;
    await put(id, '1.0.0', failing);
    const { id: run } = await fire(id);
    await app.settled();
    const before = await runOf(run);
    expect(before).toMatchObject({
      status: 'retrying',
      attempt: 1,
      error: { code: 'error', message: 'Error: not yet' },
    });
    await end(id, run);
    app.clock.advance(3_600_000);
    await app.settled();
    const { error, ...after } = await runOf(run);
    const { calls, cpuMs, logs, startedAt, pluginVersion, recording } = before;
    expect(after).toMatchObject({
      status: 'canceled',
      attempt: 1,
      calls,
      cpuMs,
      logs,
      startedAt,
      pluginVersion,
      recording,
    });
    expect([logs.length, recording.bytes > 0]).toEqual([1, true]);
    expect(error).toMatchObject({ code, at: before.error.at, stack: before.error.stack });
    expect(error.message).toEndWith('The last attempt failed (error): Error: not yet');
    expect((await call('GET', `/api/v1/runs/${run}/recording`)).json).toMatchObject({
      end: { message: 'Error: not yet' },
    });
  });
