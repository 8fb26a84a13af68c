// The wall clock is set forward and back by an hour or a day while receivers are down (docs/spec/durability.md ›
// Clocks): retries keep their intervals, without storms or stalls, and ids stay unique. Seeds are printed with a
// failure.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ATTEMPT_OFFSETS_MS } from '../../core/features/webhooks/deliveries/deliver.ts';
import { createClock, startApp, type Json, type TestClock } from '../app.ts';
import { seededRandom } from './server.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import {
  hooksOf,
  startHooks,
  startReceiver,
  type Hooks,
  type Receiver,
} from '../features/webhooks/receiver.ts';

const hour = 3_600_000;
const day = 24 * hour;

interface World {
  readonly hooks: Hooks;
  readonly clock: TestClock;
  readonly receiver: Receiver;
  /** Times of each delivery's requests, in hours of the monotonic clock. */
  readonly at: Map<string, number[]>;
  stop(): Promise<void>;
}

async function begin(): Promise<World> {
  const clock = createClock();
  const start = clock.monotonicMs();
  const at = new Map<string, number[]>();
  const receiver = startReceiver();
  receiver.answer = ({ headers }) => {
    const id = headers.get('x-webhook-delivery')!;
    at.set(id, [...(at.get(id) ?? []), clock.monotonicMs() - start]);
    return new Response(null, { status: 500 });
  };
  const dataDir = mkdtempSync(join(tmpdir(), 'tatami-clock-'));
  const hooks = await startHooks({ clock, dataDir });
  const world: World = {
    hooks,
    clock,
    receiver,
    at,
    async stop() {
      await this.hooks.app.stop();
      await receiver.stop();
      rmSync(dataDir, { recursive: true });
    },
  };
  return world;
}

/** Advances time in steps below the shortest retry interval, so that each retry runs when it is due. */
async function pass({ hooks, clock }: World, ms: number): Promise<void> {
  for (let left = ms; left > 0;) {
    const step = Math.min(left, 2 * 60_000);
    clock.advance(step);
    await hooks.app.settled();
    left -= step;
  }
}

for (const [name, jump] of [
  ['an hour', -hour],
  ['a day', -day],
] as const)
  test(`after the clock is set back by ${name}, retries keep their times, and deliveries are parked after 24 hours`, async () => {
    const world = await begin();
    const { hooks, clock, at } = world;
    const endpoint = await hooks.register(world.receiver.url, { events: ['issue.created'] });
    await hooks.file('One');
    await hooks.app.settled();
    await pass(world, 3 * 60_000);
    clock.jump(jump);
    await pass(world, 40 * 60_000);
    const [delivery] = await hooks.deliveries(endpoint);
    const times = at.get(delivery.id)!;
    expect(times.length).toBe(4);
    for (const [n, time] of times.entries()) {
      expect(time).toBeGreaterThanOrEqual(ATTEMPT_OFFSETS_MS[n]!);
      expect(time).toBeLessThanOrEqual(ATTEMPT_OFFSETS_MS[n]! * 1.1 + 2 * 60_000);
    }
    expect(Date.parse(delivery.nextAttemptAt) - clock.now()).toBeLessThan(2.2 * hour);
    await pass(world, 25 * hour);
    expect(await hooks.delivery(delivery.id)).toMatchObject({ status: 'failed', attempts: 8 });
    await world.stop();
  }, 60_000);

test('after the clock is set forward by a day, each open delivery makes one attempt and is parked: no storm', async () => {
  const world = await begin();
  const { hooks, clock, receiver } = world;
  const endpoint = await hooks.register(receiver.url, { events: ['issue.created'] });
  for (let n = 0; n < 30; n++) await hooks.file(`Issue ${n}`);
  await hooks.app.settled();
  receiver.received.length = 0;
  clock.jump(day);
  await pass(world, 6_000);
  expect(receiver.received.length).toBe(30);
  expect(new Set((await hooks.deliveries(endpoint)).map(({ status }: Json) => status))).toEqual(
    new Set(['failed']),
  );
  await world.stop();
}, 60_000);

test('work that is postponed after the clock was set back is not shifted with earlier waiting work', async () => {
  const world = await begin();
  const { hooks, clock, receiver, at } = world;
  await hooks.register(receiver.url, { events: ['issue.created'] });
  const first = await hooks.file('before');
  await hooks.app.settled();
  clock.jump(-hour);
  const second = await hooks.file('after');
  await hooks.app.settled();
  await pass(world, 10_000);
  const timesOf = (issue: Json): number[] => {
    const { headers } = receiver.received.find(({ event }) => event.data.id === issue.id)!;
    return at.get(headers.get('x-webhook-delivery')!)!;
  };
  expect([timesOf(first).length, timesOf(second).length]).toEqual([2, 2]);
  await pass(world, 4 * 60_000);
  expect([timesOf(first).length, timesOf(second).length]).toEqual([2, 2]);
  await world.stop();
}, 60_000);

test('during a day of random clock changes every delivery is retried in order, none stalls or storms, and ids stay unique', async () => {
  const seed = Number(process.env.SEED ?? 20_261_122);
  const random = seededRandom(seed);
  const world = await begin();
  const { hooks, clock, at } = world;
  const endpoint = await hooks.register(world.receiver.url, { events: ['issue.created'] });
  const jumps = [-day, -hour, -10_000, 10_000];
  const ids = new Set<string>();
  for (let step = 0; step < 60; step++) {
    if (step < 12) ids.add((await hooks.file(`Issue ${step}`)).id);
    // The unit tests of the schedule cover a first attempt during a clock change.
    await hooks.app.settled();
    if (random() < 0.3) clock.jump(jumps[Math.floor(random() * jumps.length)]!);
    await pass(world, 30 * 60_000);
  }
  expect([seed, ids.size, at.size]).toEqual([seed, 12, 12]);
  for (const times of at.values())
    for (const [n, time] of times.entries()) {
      const offset = ATTEMPT_OFFSETS_MS[n]!;
      // Time advances in steps of two minutes; a jump forward counts as elapsed time.
      expect([seed, n, time - times[0]! >= offset - 3 * 60_000]).toEqual([seed, n, true]);
      expect([seed, n, time - times[0]! <= offset * 1.1 + 5 * 60_000]).toEqual([seed, n, true]);
    }
  expect([seed, Math.min(...[...at.values()].map(({ length }) => length))]).toEqual([seed, 8]);
  const deliveries = await hooks.deliveries(endpoint);
  expect(new Set(deliveries.map(({ id }) => id)).size).toBe(12);
  expect(deliveries.filter(({ status }) => status !== 'failed')).toEqual([]);
  await world.stop();
}, 60_000);

/** Changes the clock between a stop and the next start. */
async function restart(world: World, jump: number): Promise<World> {
  const { app } = world.hooks;
  await app.stop();
  world.clock.jump(jump);
  const options = { clock: app.clock, dataDir: app.dataDir, flags: { egressAllow: '127.0.0.0/8' } };
  return { ...world, hooks: hooksOf(await startApp(options, app.workspace)) };
}

const year = 365 * day;

for (const [name, ahead] of [
  ['an hour', hour],
  ['a year', year],
] as const)
  test(`a retry planned by a clock ${name} ahead runs at its intended time, although a restart corrected the clock`, async () => {
    let world = await begin();
    world.clock.jump(ahead);
    await world.hooks.register(world.receiver.url, { events: ['issue.created'] });
    await world.hooks.file('One');
    await world.hooks.app.settled();
    await pass(world, 2 * 60_000);
    world = await restart(world, -ahead);
    await pass(world, 5 * 60_000);
    const [times] = [...world.at.values()];
    expect(times!.length).toBe(3);
    expect(times![2]!).toBeLessThanOrEqual(ATTEMPT_OFFSETS_MS[2]! * 1.1 + 2 * 60_000);
    await world.stop();
  }, 60_000);

test('an endpoint receives every event after its registration, regardless of the clock, across restarts', async () => {
  let world = await begin();
  world.receiver.answer = () => new Response();
  await world.hooks.register(world.receiver.url, { events: ['issue.created'] });
  world = await restart(world, -year);
  await world.hooks.file('a year before');
  await world.hooks.app.settled();
  world = await restart(world, 2 * year);
  await world.hooks.file('a year after');
  await world.hooks.app.settled();
  expect(world.receiver.received.map(({ event }) => event.data.title)).toEqual([
    'a year before',
    'a year after',
  ]);
  await world.stop();
}, 60_000);

test('a plugin runs for events after its install, and its schedule at its next time, when the clock is set back', async () => {
  const clock = createClock();
  const dataDir = mkdtempSync(join(tmpdir(), 'tatami-clock-'));
  let app = await startApp({ clock, dataDir });
  const runs = async (): Promise<string[]> =>
    (await app.call('GET', '/api/v1/plugins/com.test.clock/runs?limit=100')).json.data.map(
      ({ handler }: Json) => handler,
    );
  const document = await packSource(`{
    id: 'com.test.clock', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
    on: { 'issue.created': { handle: () => undefined } },
    schedules: { hourly: { cron: '0 * * * *', handle: () => undefined } },
  }`);
  clock.jump(year);
  await install(app.call, document);
  clock.jump(-year);
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'a year before the plugin' });
  await app.settled();
  expect(await runs()).toEqual(['issue.created']);
  // The jump is detected within a minute; then the schedule runs at the next full hour.
  for (const ms of [60_000, hour]) {
    clock.advance(ms);
    while (app.logs.every(({ message }) => !message.includes('rescheduling schedules'))) await Bun.sleep(1);
    await app.settled();
  }
  expect((await runs()).toSorted()).toEqual(['hourly', 'issue.created']);
  // The retry was planned by a clock that is ahead, and the server starts with the correct one.
  clock.jump(year);
  clock.advance(60_000);
  await app.settled();
  const before = (await runs()).length;
  await app.stop();
  clock.jump(-year);
  app = await startApp({ clock, dataDir }, app.workspace);
  await app.settled();
  clock.advance(hour);
  await app.settled();
  expect((await runs()).length).toBe(before + 1);
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'still heard' });
  await app.settled();
  expect((await runs()).filter((name) => name === 'issue.created').length).toBe(2);
  await app.stop();
  rmSync(dataDir, { recursive: true });
}, 60_000);
