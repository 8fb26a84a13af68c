// All disturbances combined: receivers fail at random, endpoints are disabled and enabled, secrets rotated, deliveries
// canceled and replayed, the process restarted, and the clock moved. Nothing may be stuck or lost, and ordered
// endpoints stay ordered. A failure shows its seed; TATAMI_LONG=1 runs fifty.
import { expect, test } from 'bun:test';
import { seededRandom } from '../../faults/server.ts';
import { createClock, type Json, type TestApp } from '../../app.ts';
import { startHooks, startReceiver } from './receiver.ts';

const first = Number(process.env.SEED ?? 20_261_124);
const seeds = Array.from({ length: process.env.TATAMI_LONG ? 50 : 1 }, (_, n) => first + n);
const steps = 150;

async function play(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length) % from.length]!;
  const clock = createClock();
  const receiver = startReceiver();
  let failing = 0.3;
  /** Deliveries that got a 2xx response, in order. */
  const taken: { delivery: string; event: Json; path: string }[] = [];
  receiver.answer = ({ headers, event, path }) => {
    const bad = random() < failing;
    if (!bad) taken.push({ delivery: headers.get('x-webhook-delivery')!, event, path });
    return new Response(null, { status: bad ? pick([500, 503, 302, 404]) : 200 });
  };
  const { app: started } = await startHooks({ clock, random });
  let app: TestApp = started;
  const must = async (method: string, path: string, body?: object): Promise<Json> => {
    const { status, json, text } = await app.call(method, `/api/v1${path}`, body);
    expect([seed, path, status < 300 || status === 409, text]).toEqual([seed, path, true, text]);
    return status === 409 ? null : json;
  };
  const endpoints: Json[] = [];
  for (const [n, ordering] of ['none', 'entity', 'entity'].entries())
    endpoints.push(
      await must('POST', '/webhooks', {
        url: new URL(`/${n}`, receiver.url).href,
        events: ['issue.*'],
        ordering,
      }),
    );
  const issues: Json[] = [];
  const openOf = async (endpoint: Json): Promise<Json[]> =>
    (
      await Promise.all(
        ['pending', 'retrying'].map((status) =>
          must('GET', `/webhooks/${endpoint.id}/deliveries?limit=100&status=${status}`),
        ),
      )
    ).flatMap(({ data }) => data);

  const moves: Record<string, () => Promise<unknown>> = {
    file: async () =>
      issues.push(await must('POST', '/issues', { team: 'ENG', title: `Issue ${issues.length}` })),
    edit: async () =>
      issues.length > 0 &&
      must('PATCH', `/issues/${pick(issues).id}`, { title: `Title ${Math.floor(random() * 1e9)}` }),
    editMany: () =>
      Promise.all(
        issues
          .slice(0, 8)
          .map(({ id }) => must('PATCH', `/issues/${id}`, { estimate: Math.floor(random() * 100) })),
      ),
    off: async () => {
      await app.settled();
      await must('PATCH', `/webhooks/${pick(endpoints).id}`, { enabled: false });
    },
    on: () => must('PATCH', `/webhooks/${pick(endpoints).id}`, { enabled: true }),
    rotate: () => must('POST', `/webhooks/${pick(endpoints).id}/rotate`, { overlapHours: pick([0, 1, 24]) }),
    ping: () => must('POST', `/webhooks/${pick(endpoints).id}/ping`),
    cancel: async () => {
      const open = await openOf(pick(endpoints));
      if (open.length > 0) await must('POST', `/deliveries/${pick(open).id}/cancel`);
    },
    replay: async () => {
      const { data } = await must('GET', `/webhooks/${pick(endpoints).id}/deliveries?limit=20`);
      if (data.length > 0) await must('POST', `/deliveries/${pick<Json>(data).id}/replay`);
    },
    replayAll: () =>
      must('POST', `/webhooks/${pick(endpoints).id}/replays`, {
        afterSequence: 0,
        only: pick(['all', 'undelivered']),
      }),
    pass: async () => clock.advance(pick([1_000, 6_000, 600_000, 7_200_000])),
    settle: () => app.settled(),
    jump: async () => clock.jump(pick([-3_600_000, -30_000, 30_000])),
    restart: async () => (app = await app.restart()),
  };
  const names = ['file', 'edit', 'edit', 'edit', 'editMany', 'pass', 'pass', 'settle', ...Object.keys(moves)];
  const played: string[] = [];
  for (let step = 0; step < steps; step++) {
    const name = pick(names);
    played.push(name);
    await moves[name]!();
  }

  failing = 0;
  await app.settled();
  for (const { id } of endpoints) await must('PATCH', `/webhooks/${id}`, { enabled: true });
  for (let n = 0; n < 60; n++) {
    clock.advance(3_600_000);
    await app.settled();
  }
  const context = [seed, played.join(' ')];
  for (const endpoint of endpoints) expect([...context, await openOf(endpoint)]).toEqual([...context, []]);

  for (const [n, endpoint] of endpoints.entries()) {
    const all: Json[] = [];
    for (let after = ''; ;) {
      const page = await must('GET', `/webhooks/${endpoint.id}/deliveries?limit=100${after}`);
      all.push(...page.data);
      if (!page.pageInfo.hasNextPage) break;
      after = `&after=${page.pageInfo.endCursor}`;
    }
    const byId = new Map(all.map((delivery) => [delivery.id, delivery]));
    const got = taken.filter(({ path }) => path === `/${n}`);
    // The deliveries shown as delivered are exactly those that the receiver accepted, once each.
    const counted = new Map<string, number>();
    for (const { delivery } of got) counted.set(delivery, (counted.get(delivery) ?? 0) + 1);
    expect([...context, [...counted.keys()].toSorted(), Math.max(0, ...counted.values()) <= 1]).toEqual([
      ...context,
      all
        .filter(({ status }) => status === 'delivered')
        .map(({ id }) => id)
        .toSorted(),
      true,
    ]);
    if (endpoint.ordering === 'none' || n === 0) continue;
    const latest = new Map<string, number>();
    for (const { delivery, event } of got.filter(({ delivery }) => byId.get(delivery).origin === 'event')) {
      const before = latest.get(event.data.id) ?? 0;
      expect([...context, event.sequence > before]).toEqual([...context, true]);
      latest.set(event.data.id, event.sequence);
      void delivery;
    }
  }
  await app.stop();
  await receiver.stop();
}

for (const seed of seeds) test(`seed ${seed}`, () => play(seed), 60_000);
