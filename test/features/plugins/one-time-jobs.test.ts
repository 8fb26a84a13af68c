// One-time jobs are stored with the other writes of their run, and run once at their time across restarts, pauses and
// upgrades.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { tatami } from '../../cli/tatami.ts';
import { install, packSource } from './pack.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

const id = 'com.test.once';
const definition = (version: string, more = ''): string => `{
  id: '${id}', version: '${version}', engines: { tatami: '*' },
  scopes: { 'issues:write': { why: 'test' } },
  actions: { ask: { target: 'none', input: { type: 'object', additionalProperties: true }, handle: async ({ input }, ctx) => {
    for (const [name, at, data] of input.once ?? []) await ctx.schedule.once(name, ctx.now() + at, data);
    const canceled = [];
    for (const name of input.cancel ?? []) canceled.push(await ctx.schedule.cancel(name));
    if (input.fail) throw new Error('no');
    return canceled;
  } } },
  schedules: { nightly: { cron: '0 3 * * *', handle: () => {} }, ${more}
    remind: { handle: async (event, ctx) => {
      await ctx.kv.set('ran-' + (await ctx.kv.increment('runs')), event);
      if (event.data === 'again') await ctx.schedule.once('remind', ctx.now() + 60_000, 'again');
    } } },
}`;

const ask = (input: object): Promise<Json> =>
  app.call('POST', `/api/v1/plugins/${id}/actions/ask`, { input });
const scheduled = async (): Promise<Json[]> =>
  (await app.call('GET', `/api/v1/plugins/${id}/scheduled`)).json.data;
const ran = async (): Promise<number> =>
  (await app.call('GET', `/api/v1/plugins/${id}/kv/runs`)).json.value ?? 0;
const pass = async (ms: number): Promise<void> => {
  app.clock.advance(ms);
  await app.settled();
};

test('a one-time job is stored with its run, replaced by name, and run once at its time, also after a restart', async () => {
  await install(app.call, await packSource(definition('1.0.0')));
  expect((await ask({ once: [['remind', 60_000, 1]], fail: true })).json.status).toBe('dead');
  expect(await scheduled()).toEqual([]);

  expect(
    (
      await ask({
        once: [
          ['remind', 60_000, 'a'],
          ['remind:k', 60_000, 'b'],
        ],
      })
    ).status,
  ).toBe(200);
  expect(
    (await ask({ once: [['remind', 120_000, 'c']], cancel: ['remind:k', 'remind:other'] })).json.result,
  ).toEqual([true, false]);
  expect(await scheduled()).toMatchObject([
    { name: 'remind', schedule: 'remind', dueAt: '2026-11-20T12:02:00.000Z', data: 'c' },
  ]);
  await pass(60_000);
  expect(await ran()).toBe(0);
  app = await app.restart();
  await pass(60_000);
  expect(await ran()).toBe(1);
  expect((await app.call('GET', `/api/v1/plugins/${id}/kv/ran-1`)).json.value).toEqual({
    schedule: 'remind',
    scheduledAt: '2026-11-20T12:02:00.000Z',
    name: 'remind',
    data: 'c',
  });
  await pass(600_000);
  expect([await ran(), await scheduled()]).toEqual([1, []]);
});

test('a one-time job waits while its plugin is paused, survives an upgrade, and can be deleted by an administrator', async () => {
  await ask({
    once: [
      ['remind:a', 60_000],
      ['remind:b', 60_000],
    ],
  });
  await app.call('PATCH', `/api/v1/plugins/${id}`, { state: 'paused_by_admin' });
  await pass(120_000);
  expect([await ran(), (await scheduled()).length]).toEqual([1, 2]);
  expect((await app.call('DELETE', `/api/v1/plugins/${id}/scheduled/remind:b`)).status).toBe(204);
  expect((await app.call('DELETE', `/api/v1/plugins/${id}/scheduled/remind:b`)).status).toBe(404);
  await app.call('PATCH', `/api/v1/plugins/${id}`, { state: 'active' });
  await install(app.call, await packSource(definition('1.1.0', 'late: { handle: () => {} },')));
  await app.settled();
  expect([await ran(), await scheduled()]).toEqual([2, []]);
});

test('a consent shows the one-time jobs whose schedule the new version lacks, and the list marks them', async () => {
  await ask({
    once: [
      ['remind:a', 60_000],
      ['remind:b', 90_000],
      ['late', 120_000],
    ],
  });
  const without = `{
    id: '${id}', version: '2.0.0', engines: { tatami: '*' },
    scopes: { 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' } },
    schedules: { remind: { cron: '0 4 * * *', handle: () => {} }, late: { handle: () => {} } },
  }`;
  const document = await packSource(without);
  const sentence =
    '2 one-time jobs of remind are pending, but this version has no schedule remind without cron: each will fail with no_handler when due.';
  const previewed = await app.call('POST', '/api/v1/plugins/preview', { package: document });
  expect(previewed.json.asked.unhandled).toEqual([sentence]);
  await app.call('POST', '/api/v1/plugins', { package: document });
  const waiting = (await app.call('GET', `/api/v1/plugins/${id}/consent`)).json;
  expect([waiting.installed.unhandled, waiting.pending.unhandled]).toEqual([[], [sentence]]);
  expect((await scheduled()).map(({ hasHandler }) => hasHandler)).toEqual([true, true, true]);

  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  const consented = await tatami(['plugins', 'consent', id, '--yes'], remote);
  expect([consented.code, consented.out + consented.err]).toEqual([0, expect.stringContaining(sentence)]);
  expect((await scheduled()).map(({ name, hasHandler }) => [name, hasHandler])).toEqual([
    ['remind:a', false],
    ['remind:b', false],
    ['late', true],
  ]);
  const { out } = await tatami(['plugins', 'scheduled', id], remote);
  const [heading = '', ...jobs] = out.trimEnd().split('\n');
  expect(heading).toEndWith('HAS HANDLER');
  expect(jobs.map((line) => /\w+$/.exec(line)?.[0])).toEqual(['no', 'no', 'yes']);

  await pass(60_000);
  const [run] = (await app.call('GET', `/api/v1/plugins/${id}/runs?limit=1`)).json.data;
  expect(run).toMatchObject({ handler: 'remind', status: 'dead', error: { code: 'no_handler' } });
  // Another version with the schedule runs the remaining job.
  await install(app.call, await packSource(definition('3.0.0', 'late: { handle: () => {} },')));
  const before = await ran();
  await pass(60_000);
  expect([await ran(), await scheduled()]).toEqual([before + 1, []]);
});

test('limits of names, times, sizes and counts are reported', async () => {
  const errorOf = async (input: object): Promise<string> => (await ask(input)).json.error?.message;
  expect(await errorOf({ once: [['nightly', 1]] })).toContain('no schedule nightly without cron');
  expect(await errorOf({ once: [['remind', -1]] })).toContain('The time is in the past');
  expect(await errorOf({ once: [['remind', 400 * 86_400_000]] })).toContain('at most 366 days');
  expect(await errorOf({ once: [['remind', 1, 'x'.repeat(17_000)]] })).toContain('at most 16384 characters');
});

test('a loop through schedules is stopped', async () => {
  const before = await ran();
  await ask({ once: [['remind', 60_000, 'again']] });
  for (let i = 0; i < 12; i++) await pass(60_000);
  // The loop limit allows the same step three times in a chain.
  expect((await ran()) - before).toBe(3);
  const [last] = (await app.call('GET', `/api/v1/plugins/${id}/runs?limit=1`)).json.data;
  expect(last).toMatchObject({ status: 'dead', handler: 'remind', error: { code: 'loop_path' } });
});

test('at most 1,000 jobs wait, also with concurrent runs, and a replaced job takes no capacity', async () => {
  const names = (from: number, count: number): unknown[] =>
    Array.from({ length: count }, (_, at) => [`remind:n${from + at}`, 3_600_000]);
  // A run makes at most 100 calls.
  for (let from = 0; from < 900; from += 100)
    expect((await ask({ once: names(from, 100) })).json.status).toBe('succeeded');
  expect((await ask({ once: names(900, 99) })).json.status).toBe('succeeded');
  const racing = await Promise.all([999, 1_000].map((from) => ask({ once: names(from, 1) })));
  expect(racing.map(({ json }) => [json.status, json.error?.code ?? null]).toSorted()).toEqual([
    ['dead', 'error'],
    ['succeeded', null],
  ]);
  const over = await ask({ once: names(2_000, 1) });
  expect([over.json.status, over.json.calls.at(-1).code]).toEqual(['dead', 'quota_exceeded']);
  expect(over.json.error.message).toContain('at most 1000 pending one-time jobs');
  expect((await ask({ once: names(0, 1) })).json.status).toBe('succeeded');
  expect((await ask({ cancel: ['remind:n1'], once: names(2_000, 1) })).json.status).toBe('dead');
  expect((await ask({ cancel: ['remind:n1'] })).json.result).toEqual([true]);
  expect((await ask({ once: names(2_000, 1) })).json.status).toBe('succeeded');
});
