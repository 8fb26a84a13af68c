import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

async function make(path: string, body: object): Promise<Json> {
  const { status, json } = await app.call('POST', `/api/v1${path}`, body);
  expect([path, status]).toEqual([path, 201]);
  return json;
}
const file = (title: string): Promise<Json> => make('/issues', { team: 'ENG', title, priority: 'urgent' });

test('a lone creation, comment or change causes one further commit, with its texts and all positions', async () => {
  const issue = await file('Alone');
  await app.clock.advance(1_000);
  await app.settled();
  const { store } = app.services;
  for (const write of [
    () => file('Lone'),
    () => make(`/issues/${issue.id}/comments`, { body: 'Lone' }),
    () => app.call('PATCH', `/api/v1/issues/${issue.id}`, { priority: 'low' }),
  ]) {
    const before = store.counts().batches;
    await write();
    await app.settled();
    await app.clock.advance(1_000);
    await app.settled();
    expect(store.counts().batches - before).toBe(2);
  }
});

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
  expect(store.counts().batches - before - creations).toBeLessThanOrEqual(gatherings + creations / 64);
});
