// A change of an issue's comments updates `updatedAt` of the issue, and not its version.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { scenarioOf, type Scenario } from '../../scenario.ts';

let app: TestApp;
let step: Scenario;
beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
});
afterAll(() => app.stop());

const now = (): string => new Date(app.clock.now()).toISOString();

test('a change of a comment updates the time of its issue without a version conflict for editors of the issue', async () => {
  const { id } = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Talked of' })).json;
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Newer' });
  const before = await app.call('GET', `/api/v1/issues/${id}`);
  const etag = before.headers.get('etag')!;
  let comment = '';
  const steps: readonly [string, () => string, object | undefined, number, string][] = [
    ['POST', () => `/issues/${id}/comments`, { body: 'First' }, 201, 'comment.added'],
    ['PATCH', () => `/comments/${comment}`, { body: 'Changed' }, 200, 'comment.updated'],
    ['POST', () => `/comments/${comment}/resolve`, undefined, 200, 'comment.resolved'],
    ['POST', () => `/comments/${comment}/unresolve`, undefined, 200, 'comment.unresolved'],
    ['DELETE', () => `/comments/${comment}`, undefined, 204, 'comment.deleted'],
  ];
  for (const [method, path, body, status, event] of steps) {
    app.clock.advance(60_000);
    const answered = await step(method, path(), body, { status, events: [event] });
    comment ||= answered.id;
    const { json } = await app.call('GET', `/api/v1/issues/${id}`);
    expect([event, json]).toEqual([event, { ...before.json, updatedAt: now() }]);
    const [latest] = (await app.call('GET', '/api/v1/issues?sort=-updatedAt&limit=1')).json.data;
    expect([event, latest.id]).toEqual([event, id]);
    const since = (await app.call('GET', `/api/v1/issues?updatedSince=${now()}`)).json.data;
    expect([event, since.map((issue: Json) => issue.id)]).toEqual([event, [id]]);
  }
  const fresh = await app.call('GET', `/api/v1/issues/${id}`, undefined, { 'if-none-match': etag });
  expect(fresh.status).toBe(200);
  // Read before the steps below add events.
  await step(
    'PATCH',
    `/issues/${id}`,
    { priority: 'high' },
    { status: 200, headers: { 'if-match': etag }, body: { version: 2 }, events: ['issue.updated'] },
  );
});

test('a change of a comment without effect does not update the time of its issue', async () => {
  const { id } = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Quiet' })).json;
  const { json } = await app.call('POST', `/api/v1/issues/${id}/comments`, { body: 'Same' });
  const { updatedAt } = (await app.call('GET', `/api/v1/issues/${id}`)).json;
  app.clock.advance(60_000);
  await step('PATCH', `/comments/${json.id}`, { body: 'Same' }, { status: 200 });
  await step('POST', `/comments/${json.id}/unresolve`, undefined, { status: 200 });
  await step('GET', `/issues/${id}`, undefined, { status: 200, body: { updatedAt } });
});

test('a comment created while its issue is being deleted is either deleted with the issue or refused', async () => {
  for (let round = 0; round < 10; round++) {
    const { id } = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Contested' })).json;
    const from = await app.lastSequence();
    const [comment, deletion] = await Promise.all([
      app.call('POST', `/api/v1/issues/${id}/comments`, { body: 'At the same time' }),
      app.call('DELETE', `/api/v1/issues/${id}`),
    ]);
    expect(deletion.status).toBe(204);
    expect([201, 404]).toContain(comment.status);
    expect(await app.eventTypes(from)).toEqual(
      comment.status === 201 ? ['comment.added', 'issue.deleted'] : ['issue.deleted'],
    );
  }
});
