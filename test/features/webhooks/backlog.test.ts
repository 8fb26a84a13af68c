// A backlog of deliveries arrives completely and once each, and endpoints that hang do not delay others. Short form of
// docs/spec/durability.md › Backlogs.
import { afterEach, expect, test } from 'bun:test';
import { startHooks, startReceiver, type Hooks } from './receiver.ts';

let cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.toReversed()) await clean();
  cleanUp = [];
});

async function begin() {
  const receiver = startReceiver();
  const hooks = await startHooks();
  let running = hooks.app;
  cleanUp.push(receiver.stop, () => running.stop());
  return { hooks, receiver, restart: async () => (running = await running.restart()) };
}

/** @param hundreds bulk requests of a hundred issues each */
async function fileMany({ app }: Hooks, hundreds: number): Promise<void> {
  const issues = (bulk: number) =>
    Array.from({ length: 100 }, (_, index) => ({ team: 'ENG', title: `Issue ${bulk}-${index}` }));
  for (let bulk = 0; bulk < hundreds; bulk++)
    expect((await app.call('POST', '/api/v1/issues/bulk', { issues: issues(bulk) })).status).toBe(201);
}

test('more deliveries than the process holds in memory arrive exactly once each', async () => {
  const { hooks, receiver } = await begin();
  const endpoints = 15;
  for (let index = 0; index < endpoints; index++) await hooks.register(`${receiver.url}/${index}`);
  await fileMany(hooks, 2);
  await hooks.app.settled();
  const ids = receiver.received.map(({ headers }) => headers.get('x-webhook-delivery'));
  expect(new Set(ids).size).toBe(endpoints * 200);
  expect(ids.length).toBe(endpoints * 200);
}, 60_000);

test('a dozen hanging endpoints do not delay a healthy one', async () => {
  const { hooks, receiver } = await begin();
  const tarpit = startReceiver();
  const released = Promise.withResolvers<void>();
  tarpit.answer = () => released.promise.then(() => new Response());
  cleanUp.push(tarpit.stop);
  const hanging = 12;
  for (let index = 0; index < hanging; index++) await hooks.register(`${tarpit.url}/${index}`);
  const healthy = await hooks.register(receiver.url);
  await fileMany(hooks, 3);
  await receiver.arrived(300);
  expect(tarpit.received.length).toBe(hanging * 8);
  expect((await hooks.deliveries(healthy, '&status=delivered')).length).toBe(100);
  released.resolve();
  await hooks.app.settled();
  expect(tarpit.received.length).toBe(hanging * 300);
}, 60_000);

test('a hanging endpoint does not delay shutdown, and its waiting deliveries persist', async () => {
  const { hooks, receiver, restart } = await begin();
  receiver.answer = () => new Promise<Response>(() => undefined);
  await hooks.register(receiver.url);
  await fileMany(hooks, 3);
  await receiver.arrived(8);
  receiver.answer = () => new Response();
  await (await restart()).settled();
  const ids = receiver.received.map(({ headers }) => headers.get('x-webhook-delivery'));
  expect(new Set(ids).size).toBe(300);
  expect(ids.length).toBe(308);
}, 60_000);

/** Issues for each endpoint; 1,000 in the long form. */
const backlog = process.env.TATAMI_LONG ? 1_000 : 500;

test(`${backlog * 10} deliveries to ten endpoints, one of them hanging, arrive fast, fairly and once each`, async () => {
  const { hooks, receiver } = await begin();
  const tarpit = startReceiver();
  cleanUp.push(tarpit.stop);
  tarpit.answer = () => new Promise<Response>(() => undefined);
  const urls = [tarpit.url, ...Array.from({ length: 9 }, (_, index) => `${receiver.url}/${index}`)];
  const endpoints = await Promise.all(urls.map((url) => hooks.register(url, { events: ['issue.created'] })));
  const patchAll = (body: object) =>
    Promise.all(endpoints.map(({ id }) => hooks.call('PATCH', `/api/v1/webhooks/${id}`, body)));
  await patchAll({ enabled: false });
  await fileMany(hooks, backlog / 100);
  await patchAll({ enabled: true });

  const ids = new Set<string>();
  const byPath = new Map<string, number>();
  let repeated = 0;
  let half: number[] = [];
  receiver.answer = ({ headers, path }) => {
    const id = headers.get('x-webhook-delivery')!;
    if (ids.has(id)) repeated++;
    ids.add(id);
    byPath.set(path, (byPath.get(path) ?? 0) + 1);
    if (ids.size === Math.floor((backlog * 9) / 2)) half = [...byPath.values()];
    return new Response();
  };
  const before = process.cpuUsage();
  await Promise.all(
    endpoints.map(({ id }) => hooks.call('POST', `/api/v1/webhooks/${id}/replays`, { afterSequence: 0 })),
  );
  await receiver.arrived(backlog * 9);
  const { user, system } = process.cpuUsage(before);
  const perSecond = (backlog * 9 * 1_000_000) / (user + system);
  expect([repeated, ids.size, byPath.size]).toEqual([0, backlog * 9, 9]);
  const mean = half.reduce((sum, count) => sum + count, 0) / 9;
  expect([half.length, half.filter((count) => Math.abs(count - mean) > mean * 0.2)]).toEqual([9, []]);
  // Per second of CPU time of the core and the receivers together; about 4,700 when measured.
  expect([Math.round(perSecond), perSecond > 1_000]).toEqual([Math.round(perSecond), true]);
  expect(tarpit.received.length).toBe(8);
}, 120_000);
