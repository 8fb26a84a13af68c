// A receiver is down for days (docs/spec/webhooks.md › Retries), in the whole system with a fake clock: attempts have
// fixed times, the last is at exactly 24 hours, then the delivery is parked; after 120 hours the endpoint is disabled;
// missed events are replayed. Each delivery has its own jitter, so that each is a seed; TATAMI_LONG=1 runs a thousand.
import { afterEach, expect, test } from 'bun:test';
import { ATTEMPT_OFFSETS_MS } from '../../../core/features/webhooks/deliveries/deliver.ts';
import { seededRandom } from '../../faults/server.ts';
import { createClock, type Json, type TestClock } from '../../app.ts';
import { startHooks, startReceiver, type Hooks, type Receiver } from './receiver.ts';

const hour = 3_600_000;
const seeds = process.env.TATAMI_LONG ? 1_000 : 50;
/** Maximum of endpoints in a workspace. */
const endpointsMax = 50;
const seed = Number(process.env.SEED ?? 20_261_123);

let cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.toReversed()) await clean();
  cleanUp = [];
});

async function begin(): Promise<{ hooks: Hooks; clock: TestClock; receiver: Receiver }> {
  const clock = createClock();
  const receiver = startReceiver();
  const hooks = await startHooks({ clock, random: seededRandom(seed) });
  cleanUp.push(receiver.stop, () => hooks.app.stop());
  return { hooks, clock, receiver };
}

/** Advances the clock from timer to timer, so that each attempt has its exact time. */
async function pass({ app }: Hooks, clock: TestClock, ms: number): Promise<void> {
  const end = clock.now() + ms;
  for (;;) {
    await app.settled();
    if (clock.now() >= end) return;
    clock.advanceToNext(end - clock.now());
  }
}

test(`${seeds} deliveries to receivers that are down have eight attempts each at fixed times, and are then parked`, async () => {
  const { hooks, clock, receiver } = await begin();
  receiver.answer = ({ path }) =>
    Number(path.slice(1)) % 3 === 0
      ? new Response(null, { status: 503 })
      : new Response('no', { status: 500 });
  const endpoints: Json[] = [];
  for (let n = 0; n < endpointsMax; n++)
    endpoints.push(await hooks.register(new URL(`/${n}`, receiver.url).href, { events: ['issue.created'] }));
  for (let n = 0; n < seeds / endpointsMax; n++) await hooks.file(`Issue ${n}`);
  await pass(hooks, clock, 25 * hour);
  const jitters = new Set<number>();
  const deliveries = await Promise.all(endpoints.map((endpoint) => hooks.deliveries(endpoint)));
  expect(deliveries.flat()).toHaveLength(seeds);
  for (const { id } of deliveries.flat()) {
    const { status, attempts, attemptList } = await hooks.delivery(id);
    expect([seed, status, attempts]).toEqual([seed, 'failed', 8]);
    const times = attemptList.map(({ at }: Json) => Date.parse(at) - Date.parse(attemptList[0].at));
    for (const [n, offset] of ATTEMPT_OFFSETS_MS.entries()) {
      const last = n === ATTEMPT_OFFSETS_MS.length - 1;
      const late = times[n] - offset;
      expect([seed, n, late >= 0 && (last || n === 0 ? late === 0 : late < offset * 0.1)]).toEqual([
        seed,
        n,
        true,
      ]);
      if (n === 4) jitters.add(late);
    }
  }
  expect(jitters.size).toBeGreaterThan(seeds * 0.9);
  expect(receiver.received.length).toBe(seeds * 8);
  await pass(hooks, clock, 24 * hour);
  expect(receiver.received.length).toBe(seeds * 8);
}, 120_000);

test('after 120 hours of failure each endpoint is disabled with an event and an inbox item, and a replay delivers the missed events after recovery', async () => {
  const { hooks, clock, receiver } = await begin();
  const since = new Date(clock.now()).toISOString();
  receiver.answer = () => new Response(null, { status: 500 });
  const endpoints: Json[] = [];
  for (let n = 0; n < 10; n++)
    endpoints.push(await hooks.register(new URL(`/${n}`, receiver.url).href, { events: ['issue.created'] }));
  const from = await hooks.app.lastSequence();
  const filed: string[] = [];
  for (let day = 0; day < 5; day++) {
    filed.push((await hooks.file(`Day ${day}`)).id);
    await pass(hooks, clock, 24 * hour - 1);
    const webhooks = (await hooks.call('GET', '/api/v1/webhooks')).json.data;
    expect(webhooks.map(({ enabled }: Json) => enabled)).toEqual(Array(10).fill(true));
  }
  filed.push((await hooks.file('Day 5')).id);
  await pass(hooks, clock, hour);
  const types = (await hooks.app.eventTypes(from)).filter((type) => type !== 'issue.created');
  expect(types).toEqual(Array(10).fill(['webhook.disabled', 'inbox.item_created']).flat());
  const { data: inbox } = (await hooks.call('GET', '/api/v1/inbox')).json;
  expect(inbox.map(({ target }: Json) => target.id).toSorted()).toEqual(
    endpoints.map(({ id }) => id).toSorted(),
  );
  expect(inbox[0].body).toContain('All deliveries have failed for 120 hours.');

  filed.push((await hooks.file('while it was off')).id);
  receiver.answer = () => new Response();
  receiver.received.length = 0;
  for (const { id } of endpoints) {
    await hooks.call('PATCH', `/api/v1/webhooks/${id}`, { enabled: true });
    await hooks.call('POST', `/api/v1/webhooks/${id}/replays`, { since, only: 'undelivered' });
  }
  await hooks.app.settled();
  for (let n = 0; n < 10; n++) {
    const got = receiver.received.filter(({ path }) => path === `/${n}`).map(({ event }) => event.data.id);
    expect(got.toSorted()).toEqual(filed.toSorted());
  }
}, 60_000);
