// Many deliveries at once: all arrive, each once, and endpoints that hang cost the others nothing. Fault matrix row 10, in its
// fast form.
import { afterEach, expect, test } from 'bun:test';
import { startHooks, startReceiver, type Hooks } from './receiver.ts';

let cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.toReversed()) await clean();
  cleanUp = [];
});

async function begin(): Promise<{ hooks: Hooks; receiver: ReturnType<typeof startReceiver> }> {
  const receiver = startReceiver();
  const hooks = await startHooks();
  cleanUp.push(receiver.stop, hooks.app.stop);
  return { hooks, receiver };
}

/** @param hundreds bulk requests of a hundred issues each */
async function fileMany({ app }: Hooks, hundreds: number): Promise<void> {
  const issues = (bulk: number) =>
    Array.from({ length: 100 }, (_, index) => ({ team: 'ENG', title: `Issue ${bulk}-${index}` }));
  for (let bulk = 0; bulk < hundreds; bulk++)
    expect((await app.call('POST', '/api/v1/issues/bulk', { issues: issues(bulk) })).status).toBe(201);
}

test('more deliveries than the process holds at once arrive, each exactly once', async () => {
  const { hooks, receiver } = await begin();
  const endpoints = 15;
  for (let index = 0; index < endpoints; index++) await hooks.register(`${receiver.url}/${index}`);
  await fileMany(hooks, 2);
  await hooks.app.settled();
  const ids = receiver.received.map(({ headers }) => headers.get('x-webhook-delivery'));
  expect(new Set(ids).size).toBe(endpoints * 200);
  expect(ids.length).toBe(endpoints * 200);
}, 30_000);

test('a dozen hanging endpoints do not hold up a healthy one, nor the end of the process', async () => {
  const { hooks, receiver } = await begin();
  const tarpit = startReceiver();
  tarpit.answer = () => new Promise<Response>(() => undefined);
  cleanUp.push(tarpit.stop);
  for (let index = 0; index < 12; index++) await hooks.register(`${tarpit.url}/${index}`);
  const healthy = await hooks.register(receiver.url);
  await fileMany(hooks, 3);
  await receiver.arrived(300);
  expect(tarpit.received.length).toBe(12 * 8);
  const delivered = (await hooks.deliveries(healthy, '&status=delivered')).length;
  expect(delivered).toBe(100);
}, 30_000);
