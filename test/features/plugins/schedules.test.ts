// Schedules that take several runs.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { tatami } from '../../cli/tatami.ts';
import { installSchedule } from './pack.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

const runsOf = async (plugin: string): Promise<Json[]> =>
  (await app.call('GET', `/api/v1/plugins/${plugin}/runs`)).json.data.reverse();
const schedule = (id: string, handle: string, more = ''): Promise<void> =>
  installSchedule(app.call, id, handle, more);

const fire = async (id: string): Promise<Json> => {
  const reply = await app.call('POST', `/api/v1/plugins/${id}/schedules/work/run`);
  expect(reply.status).toBe(202);
  await app.settled();
  return reply.json;
};

test('an unfinished schedule continues by itself, each run with the values of the one before', async () => {
  await schedule(
    'com.test.steps',
    `async (event, ctx) => {
      const done = await ctx.kv.increment('done');
      await ctx.kv.set('at-' + done, event.scheduledAt);
      return { done, of: 4, unit: 'steps' };
    }`,
  );
  const first = await fire('com.test.steps');
  const runs = await runsOf('com.test.steps');
  expect(runs.map(({ status, progress }) => [status, progress])).toEqual(
    [1, 2, 3, 4].map((done) => ['succeeded', { done, of: 4, unit: 'steps' }]),
  );
  expect(runs.map(({ continuedBy }) => continuedBy)).toEqual([...runs.slice(1).map(({ id }) => id), null]);
  expect(runs[0].id).toBe(first.id);
  const times = await Promise.all(
    [1, 2, 3, 4].map(
      async (step) => (await app.call('GET', `/api/v1/plugins/com.test.steps/kv/at-${step}`)).json.value,
    ),
  );
  expect(new Set(times).size).toBe(1);
  // The next firing starts from the beginning.
  await app.call('DELETE', '/api/v1/plugins/com.test.steps/kv/done');
  app.clock.advance(86_400_000);
  await app.settled();
  expect((await runsOf('com.test.steps')).length).toBe(8);
});

test('a simulated run does not continue', async () => {
  await schedule('com.test.shown', `async (_, ctx) => ({ done: await ctx.kv.increment('done'), of: 3 })`);
  await app.call('PATCH', '/api/v1/plugins/com.test.shown', { mode: 'simulate' });
  await fire('com.test.shown');
  expect((await runsOf('com.test.shown')).map(({ status, progress }) => [status, progress.done])).toEqual([
    ['succeeded', 1],
  ]);
});

test('the command line waits for the last run and shows its progress', async () => {
  await schedule(
    'com.test.told',
    `async (_, ctx) => ({ done: await ctx.kv.increment('done'), of: 3, unit: 'teams' })`,
  );
  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  const { code, out, err } = await tatami(['plugins', 'run-schedule', 'com.test.told', 'work'], remote);
  expect([code, out]).toEqual([0, expect.stringContaining('3 of 3 teams')]);
  expect(err).toContain('1 of 3 teams');
});

test('a schedule without progress is stopped, and an invalid continuation is reported', async () => {
  await schedule(
    'com.test.stuck',
    `async (_, ctx) => { await ctx.kv.increment('runs'); return { done: 1, of: 2 }; }`,
  );
  await fire('com.test.stuck');
  expect((await runsOf('com.test.stuck')).map(({ status, error }) => [status, error?.code])).toEqual([
    ['succeeded', undefined],
    ['dead', 'no_progress'],
  ]);
  expect((await app.call('GET', '/api/v1/plugins/com.test.stuck/kv/runs')).json.value).toBe(1);

  await schedule('com.test.nonsense', `() => ({ done: 5, of: 2 })`);
  await fire('com.test.nonsense');
  const [run] = await runsOf('com.test.nonsense');
  expect(run.error.message).toContain('0 <= done <= of');
});

test('a schedule sees its remaining CPU time', async () => {
  await schedule(
    'com.test.left',
    `async (_, ctx) => {
      const before = ctx.run.cpuLeftMs();
      for (let i = 0; i < 3e6; i++);
      await ctx.sleep(0);
      const after = ctx.run.cpuLeftMs();
      await ctx.kv.set('left', [before, after]);
    }`,
    'limits: { cpuMs: 5000 },',
  );
  await fire('com.test.left');
  const [before, after] = (await app.call('GET', '/api/v1/plugins/com.test.left/kv/left')).json.value;
  expect(before).toBeGreaterThan(4_900);
  expect(after).toBeLessThan(before - 10);
});
