// Events that a disabled plugin missed are counted, reported, and run once on request, each exactly once across
// restarts.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { systemStatement } from '../../../core/platform/store/statement.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

/**
 * Simulates a page of events planned during the disabling: the missed range starts before events that the plugin has
 * handled.
 */
const widenMissedRange = systemStatement(
  'test.widen_gaps',
  'this test has one workspace',
  'UPDATE plugin_backfills SET after_sequence = 0',
);

const long = process.env.TATAMI_LONG !== undefined;
/** The log is read in pages of 200 events: one page and a part, and two pages and a part. */
const [overOnePage, overTwoPages] = long ? [450, 900] : [210, 405];

let app: TestApp;
beforeEach(async () => void (app = await startApp()));
afterEach(() => app.stop());

/** Counts each issue of its events, and loops on issues with that title. */
const definition = `{
  id: 'com.test.counts', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
  on: { 'issue.created': { filter: { priority: ['high'] }, handle: async (event, ctx) => {
    if (event.data.title === 'loop') for (;;);
    await ctx.kv.increment('met-' + event.data.number);
  } } },
}`;
const base = '/api/v1/plugins/com.test.counts';

async function create(count: number, more: object = {}): Promise<void> {
  for (let done = 0; done < count; done += 90) {
    const issues = Array.from({ length: Math.min(90, count - done) }, () => ({
      team: 'ENG',
      title: 'Issue',
      priority: 'high',
      ...more,
    }));
    expect((await app.call('POST', '/api/v1/issues/bulk', { issues })).status).toBe(201);
  }
}

/** Number of runs by issue number: each run wrote one value, and no value is deleted. */
async function met(): Promise<Record<string, number>> {
  const seen: Record<string, number> = {};
  for (let after = ''; ;) {
    const { json } = await app.call('GET', `${base}/kv?limit=100${after}`);
    for (const { key, version } of json.data) seen[key.slice(4)] = version;
    if (!json.pageInfo.hasNextPage) return seen;
    after = `&after=${encodeURIComponent(json.pageInfo.endCursor)}`;
  }
}

const looked = async (): Promise<Json> => (await app.call('GET', `${base}/catch-up`)).json;
const setState = async (state: string): Promise<void> => {
  expect((await app.call('PATCH', base, { state })).status).toBe(200);
  await app.settled();
};
const once = (from: number, to: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: to - from + 1 }, (_, index) => [String(from + index), 1]));

test('events missed after an automatic disabling are counted in the inbox and backfilled once, on request', async () => {
  await create(3);
  await install(app.call, await packSource(definition));
  await create(2);
  await app.settled();
  // Three loops disable the plugin while other events wait behind them.
  await create(3, { title: 'loop' });
  await app.settled();
  expect((await app.call('GET', base)).json.state).toBe('disabled_sandbox');
  expect(await looked()).toMatchObject({ status: 'off', missed: null });
  await create(overOnePage);
  await create(20, { priority: 'low' });
  await app.settled();
  expect((await app.call('POST', `${base}/catch-up`)).status).toBe(409);

  await setState('active');
  await create(1);
  await app.settled();
  const last = once(29 + overOnePage, 29 + overOnePage);
  expect(await met()).toEqual({ ...once(4, 5), ...last });
  expect(await looked()).toMatchObject({ status: 'offered', missed: overOnePage, runs: 0 });
  const [item] = (await app.call('GET', '/api/v1/inbox')).json.data;
  expect(item).toMatchObject({
    kind: 'plugin_missed_events',
    title: expect.stringContaining(`${overOnePage} events`),
  });

  const backfill = await app.call('POST', `${base}/catch-up`);
  expect(backfill).toMatchObject({ status: 202, json: { status: 'running', missed: overOnePage } });
  expect((await app.call('POST', `${base}/catch-up`)).status).toBe(202);
  await app.settled();
  expect(await looked()).toMatchObject({ status: 'done', runs: overOnePage });
  expect(await met()).toEqual({ ...once(4, 5), ...once(9, 8 + overOnePage), ...last });
  const again = (await app.call('POST', `${base}/catch-up`)).json;
  expect(again).toMatchObject({ status: 'nothing', missed: 0, runs: 0 });
  await app.settled();
  expect(Object.values(await met()).every((times) => times === 1)).toBe(true);
}, 60_000);

test('runs that waited when a person paused the plugin are abandoned, and run again only on request', async () => {
  await install(app.call, await packSource(definition));
  const slow = packSource(
    definition.replace("'1.0.0'", "'1.0.1'").replace('if (event', 'await ctx.sleep(20); if (event'),
  );
  await install(app.call, await slow);
  await create(60);
  await app.call('PATCH', base, { state: 'paused_by_admin' });
  await create(10);
  await app.settled();
  const before = Object.keys(await met()).length;
  expect(before).toBeLessThan(60);
  await setState('active');
  expect(await looked()).toMatchObject({ status: 'offered', missed: 70 - before });
  expect((await app.call('GET', '/api/v1/inbox')).json.data).toEqual([]);
  await app.call('POST', `${base}/catch-up`);
  await app.settled();
  expect(await met()).toEqual(once(1, 70));
}, 60_000);

test('a backfill reports its own runs only', async () => {
  await install(app.call, await packSource(definition));
  const missing = async (count: number): Promise<Json> => {
    app.clock.advance(60_000);
    await setState('paused_by_admin');
    if (count > 0) await create(count);
    app.clock.advance(60_000);
    await setState('active');
    return looked();
  };
  for (const count of [3, 2]) {
    expect(await missing(count)).toMatchObject({ status: 'offered', missed: count, runs: 0 });
    const backfill = (await app.call('POST', `${base}/catch-up`)).json;
    expect(backfill).toMatchObject({ status: 'running', missed: count, runs: 0 });
    await app.settled();
    expect(await looked()).toMatchObject({ status: 'done', missed: count, runs: count });
  }
  expect(await missing(0)).toMatchObject({ status: 'done', missed: 0, runs: 0 });
  const backfill = (await app.call('POST', `${base}/catch-up`)).json;
  expect(backfill).toMatchObject({ status: 'nothing', missed: 0, runs: 0 });
});

test('missed events are not delivered without a request, and a backfill continues after a restart', async () => {
  await install(app.call, await packSource(definition));
  await setState('paused_by_admin');
  await create(overTwoPages);
  await app.settled();
  await setState('active');
  await setState('paused_by_admin');
  await create(5);
  await setState('active');
  app = await app.restart();
  await app.settled();
  expect(await met()).toEqual({});
  expect(await looked()).toMatchObject({ status: 'offered', missed: overTwoPages + 5 });
  await app.call('POST', `${base}/catch-up`);
  app = await app.restart();
  await app.settled();
  expect(await looked()).toMatchObject({ status: 'done', runs: overTwoPages + 5 });
  expect(await met()).toEqual(once(1, overTwoPages + 5));
}, 60_000);

test('a backfill of long events is complete', async () => {
  await install(app.call, await packSource(definition));
  await setState('paused_by_admin');
  for (let batch = 0; batch < 4; batch++) await create(8, { description: 'x'.repeat(200_000) });
  await setState('active');
  expect(await looked()).toMatchObject({ status: 'offered', missed: 32 });
  await app.call('POST', `${base}/catch-up`);
  await app.settled();
  expect(await looked()).toMatchObject({ status: 'done', runs: 32 });
  expect(await met()).toEqual(once(1, 32));
}, 60_000);

test('events missed after an automatic disabling are reported also if a person paused the plugin meanwhile', async () => {
  await install(app.call, await packSource(definition));
  await create(3, { title: 'loop' });
  await app.settled();
  await create(2);
  await setState('paused_by_admin');
  await create(4);
  await setState('active');
  expect(await looked()).toMatchObject({ status: 'offered', missed: 6 });
  const items = (await app.call('GET', '/api/v1/inbox')).json.data;
  expect(items.map(({ kind }: Json) => kind)).toContain('plugin_missed_events');
  await app.call('POST', `${base}/catch-up`);
  await app.settled();
  expect(await met()).toEqual(once(4, 9));
}, 60_000);

test('a new install receives events from its installation on, also after the clock was set back', async () => {
  await create(2);
  app.clock.jump(-3_600_000);
  await install(app.call, await packSource(definition));
  // After a restart the consumer tells repeated events from new ones by their position in the log.
  app = await app.restart();
  await create(2);
  await app.settled();
  expect(await met()).toEqual(once(3, 4));
});

test('an event that was handled is not run again, wherever the missed range starts', async () => {
  await install(app.call, await packSource(definition));
  await create(20);
  await app.settled();
  await setState('paused_by_admin');
  await create(5);
  await app.services.store.commit([{ statement: widenMissedRange, params: {}, scope: null }]);
  await setState('active');
  expect(await looked()).toMatchObject({ missed: 5 });
  await app.call('POST', `${base}/catch-up`);
  await app.settled();
  expect(await met()).toEqual(once(1, 25));
});

test('events during repeated pauses are each handled once', async () => {
  await install(app.call, await packSource(definition));
  const rounds = long ? 8 : 2;
  for (let round = 0; round < rounds; round++) {
    await Promise.all([create(30), app.call('PATCH', base, { state: 'paused_by_admin' }), create(30)]);
    await Promise.all([create(30), app.call('PATCH', base, { state: 'active' }), create(30)]);
  }
  await app.settled();
  await app.call('POST', `${base}/catch-up`);
  await app.settled();
  expect(await met()).toEqual(once(1, rounds * 120));
}, 60_000);
