import { afterAll, beforeAll, expect, test } from 'bun:test';
import { systemStatement } from '../../../core/platform/store/statement.ts';
import { startApp, type TestApp } from '../../app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const pending = systemStatement<{ count: number }>(
  'test.search_pending',
  'a test counts in the whole installation',
  'SELECT count(*) AS count FROM search_pending',
);
const pendingNow = async (): Promise<number> => (await app.services.store.readSystem(pending))[0]!.count;

async function make(path: string, body: object): Promise<void> {
  const { status } = await app.call('POST', `/api/v1${path}`, body);
  expect([path, status]).toEqual([path, 201]);
}
const file = (title: string): Promise<void> => make('/issues', { team: 'ENG', title, priority: 'urgent' });

test('SLA clocks of sequential creations start in one commit', async () => {
  await make('/sla-policies', { name: 'Urgent', filter: { priority: 'urgent' }, targetMinutes: 60 });
  await app.settled();
  const { store } = app.services;
  const [before, since] = [store.counts().batches, performance.now()];
  const creations = 60;
  for (let n = 0; n < creations; n++) await file(`Urgent ${n}`);
  await app.settled();
  const gatherings = 2 + (performance.now() - since) / 50;
  const { json } = await app.call('GET', '/api/v1/events?types=sla.started&limit=100');
  expect(json.data).toHaveLength(creations);
  expect(store.counts().batches - before - creations).toBeLessThanOrEqual(gatherings + creations / 16);
});

test('the indexer shares commits with later writes', async () => {
  await file('First');
  await app.clock.advance(300);
  await app.settled();
  expect(await pendingNow()).toBe(0);
  await file('Second');
  const advanced = app.clock.advance(300);
  await Promise.all([advanced, ...Array.from({ length: 20 }, (_, n) => file(`Meanwhile ${n}`))]);
  await app.settled();
  expect(await pendingNow()).toBeGreaterThan(0);
  await app.clock.advance(300);
  await app.settled();
  expect(await pendingNow()).toBe(0);
});
