// URLs of the pages of objects, in responses and events.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../app.ts';

const v1 = '/api/v1';
const propose = { 'tatami-mode': 'propose' };
let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

async function created(path: string, body: object): Promise<Json> {
  const { status, json } = await app.call('POST', v1 + path, body);
  expect([path, status]).toEqual([path, 201]);
  return json;
}

test('an object with a page has its URL in responses, in lists, at past times and in events', async () => {
  const pipeline = await created('/pipelines', { name: 'Editor', type: 'continuous', stages: ['released'] });
  const days = { startsAt: '2026-12-01T00:00:00Z', endsAt: '2026-12-15T00:00:00Z' };
  const bodies: Readonly<Record<string, object>> = {
    boards: { name: 'Work', groupBy: 'priority' },
    cycles: { team: 'ENG', ...days },
    projects: { name: 'Beta' },
    releases: { name: '2.5', tag: 'v2.5', pipelineId: pipeline.id },
    views: { name: 'Mine', filter: {}, visibility: 'shared' },
  };
  for (const [path, body] of Object.entries(bodies)) {
    const from = await app.lastSequence();
    const { id, url } = await created(`/${path}`, body);
    expect(url).toBe(`${app.url}/${path}/${id}`);
    const { json: listed } = await app.call('GET', `${v1}/${path}`);
    expect([path, listed.data.find((one: Json) => one.id === id)?.url]).toEqual([path, url]);
    const { json: events } = await app.call('GET', `${v1}/events?after=${from}`);
    expect([path, events.data[0]?.data.url]).toEqual([path, url]);
    const written = await app.call('PATCH', `${v1}/${path}/${id}`, { url: 'https://evil.example' });
    expect([path, written.status, written.json.error.details[0].issue]).toEqual([path, 422, 'unknown_field']);
    app.clock.advance(1_000);
    const asOf = new Date(app.clock.now()).toISOString();
    const later = { [path === 'releases' ? 'notes' : 'description']: 'Later' };
    expect((await app.call('PATCH', `${v1}/${path}/${id}`, later)).status).toBe(200);
    const past = await app.call('GET', `${v1}/${path}/${id}?asOf=${asOf}`);
    if (past.status === 200) expect([path, past.json.url]).toEqual([path, url]);
  }
});

test('a proposal to create an object shows no URL of it, and can be approved', async () => {
  const { json: proposal } = await app.call('POST', `${v1}/projects`, { name: 'Later' }, propose);
  const [effect] = proposal.effects;
  const names = effect.fields.map(({ name }: Json) => name);
  expect([names.includes('name'), names.includes('url')]).toEqual([true, false]);
  const ada = await created('/members', { name: 'Ada', role: 'admin' });
  const scopes = ['approvals:write', 'projects:write'];
  const { key } = await created('/api-keys', { name: 'ada', memberId: ada.id, scopes });
  const { revision } = proposal;
  const approved = await app.clientOf(key)('POST', `${v1}/proposals/${proposal.id}/approve`, { revision });
  expect([approved.status, approved.json.status]).toEqual([200, 'approved']);
});

test('a proposal, a webhook and a delivery have the URLs of their pages', async () => {
  const issue = await created('/issues', { team: 'ENG', title: 'Proposed' });
  const { json: proposal } = await app.call(
    'PATCH',
    `${v1}/issues/${issue.id}`,
    { priority: 'low' },
    propose,
  );
  expect(proposal.url).toBe(`${app.url}/proposals/${proposal.id}`);
  const target = { url: 'https://hooks.example/tatami', events: ['issue.*'] };
  const { id } = await created('/webhooks', target);
  const { json: webhook } = await app.call('GET', `${v1}/webhooks/${id}`);
  expect([webhook.url, webhook.pageUrl]).toEqual([target.url, `${app.url}/webhooks/${id}`]);
  const delivery = await created(`/webhooks/${id}/ping`, {});
  expect(delivery.pageUrl).toBe(`${app.url}/deliveries/${delivery.id}`);
  const sample = await created(`/webhooks/${id}/samples`, { type: 'project.created' });
  const { json: sent } = await app.call('GET', `${v1}/deliveries/${sample.id}`);
  const { data } = JSON.parse(sent.payload) as Json;
  expect(data.url).toBe(`${app.url}/projects/${data.id}`);
});
