// Deleting a label removes it from its issues, each of which gets a new version, time and event.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { startApp, type Json, type TestApp } from '../app.ts';
import { scenarioOf, type Scenario } from '../scenario.ts';

let app: TestApp;
let step: Scenario;
beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
});
afterAll(async () => {
  await app.stop();
  rmSync(app.dataDir, { recursive: true, force: true });
});

const label = async (name: string): Promise<string> =>
  (await app.call('POST', '/api/v1/labels', { name })).json.id;
const issue = async (...labels: string[]): Promise<Json> => {
  const { id } = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Labeled', labels })).json;
  return (await app.call('GET', `/api/v1/issues/${id}`)).json;
};
const many = async (count: number, name: string): Promise<void> => {
  for (let created = 0; created < count; created += 100)
    await app.call('POST', '/api/v1/issues/bulk', {
      issues: Array.from({ length: Math.min(100, count - created) }, () => ({
        team: 'ENG',
        title: name,
        labels: [name, 'bug'],
      })),
    });
};
const eventsAfter = async (sequence: number): Promise<Json[]> => {
  const all: Json[] = [];
  for (let after: string | number = sequence; ;) {
    const { data, pageInfo }: Json = (await app.call('GET', `/api/v1/events?limit=100&after=${after}`)).json;
    all.push(...data);
    if (!pageInfo.hasNextPage) return all;
    after = pageInfo.endCursor;
  }
};

test('issues of a deleted label lose it, get a new version, and emit events with the previous labels', async () => {
  const id = await label('leaving');
  const [with_, without] = [await issue('leaving', 'bug'), await issue('bug')];
  app.clock.advance(1000);
  await step('DELETE', `/labels/${id}`, undefined, {
    status: 204,
    events: ['label.deleted', 'issue.updated', 'issue.labeled'],
  });
  const bug = with_.labels.find(({ name }: Json) => name === 'bug');
  await step('GET', `/issues/${with_.id}`, undefined, {
    status: 200,
    body: { version: 2, labels: [bug], updatedAt: new Date(app.clock.now()).toISOString() },
  });
  await step('GET', `/issues/${without.id}`, undefined, { status: 200, body: without });
  const [recorded] = (await app.call('GET', `/api/v1/issues/${with_.id}/history`)).json.data.slice(-1);
  expect(recorded).toMatchObject({
    type: 'issue.labeled',
    actor: { kind: 'api_key' },
    data: { labels: [bug], previous: { labels: with_.labels } },
  });
});

test('a deleted issue is not changed, and is restored without the label', async () => {
  const id = await label('of deleted');
  const { id: gone } = await issue('of deleted', 'bug');
  await app.call('DELETE', `/api/v1/issues/${gone}`);
  await step('DELETE', `/labels/${id}`, undefined, { status: 204, events: ['label.deleted'] });
  const restored = await step('POST', `/issues/${gone}/restore`, undefined, {
    status: 200,
    body: { version: 3, labels: [{ name: 'bug' }] },
    events: ['issue.restored'],
  });
  await step('PATCH', `/issues/${gone}`, { labels: ['bug'] }, { status: 200, body: restored });
});

test('a label of many issues is removed from a first batch at once and from the rest afterwards, with the same actor and cause', async () => {
  const id = await label('many');
  await many(230, 'many');
  const from = await app.lastSequence();
  expect((await app.call('DELETE', `/api/v1/labels/${id}`)).status).toBe(204);
  await app.settled();
  const [deletion, ...recorded] = await eventsAfter(from);
  const labeled = recorded.filter(({ type }) => type === 'issue.labeled');
  expect([recorded.length, labeled.length, new Set(labeled.map(({ data }) => data.id)).size]).toEqual([
    460, 230, 230,
  ]);
  for (const { actor, data } of labeled)
    expect([actor, data.version, data.previous.labels.map(({ name }: Json) => name)]).toEqual([
      deletion.actor,
      2,
      ['bug', 'many'],
    ]);
  expect(labeled.at(-1).cause.rootEventId).toBe(deletion.id);
});

test('the background removal is retried, and continues at the next start after a shutdown', async () => {
  const id = await label('interrupted');
  await many(150, 'interrupted');
  const from = await app.lastSequence();
  const { committer } = app;
  const { commit } = committer;
  let failed = 0;
  committer.commit = (author, changes, ...rest) =>
    changes.length === 50 ? Promise.reject(new Error(`cut ${++failed}`)) : commit(author, changes, ...rest);
  expect((await app.call('DELETE', `/api/v1/labels/${id}`)).status).toBe(204);
  await app.settled();
  app.clock.advance(1000);
  await app.settled();
  expect(failed).toBe(2);
  const labeled = async (): Promise<number> =>
    (await eventsAfter(from)).filter(({ type }) => type === 'issue.labeled').length;
  expect(await labeled()).toBe(100);
  app = await app.restart();
  step = scenarioOf(app);
  await app.settled();
  expect(await labeled()).toBe(150);
});

test('a label added to an issue during the deletion of the label is either removed again or refused', async () => {
  const { committer } = app;
  const { commit } = committer;
  for (const isLate of [false, true]) {
    const id = await label(`contested, ${isLate ? 'late' : 'early'}`);
    const { id: issueId } = await issue('bug');
    const from = await app.lastSequence();
    const remove = () => app.call('DELETE', `/api/v1/labels/${id}`);
    // Planned before the deletion, and committed after it.
    committer.commit = async (author, changes, ...rest) => {
      committer.commit = commit;
      if (isLate) expect((await remove()).status).toBe(204);
      return commit(author, changes, ...rest);
    };
    const labelReply = await app.call('PATCH', `/api/v1/issues/${issueId}`, { addLabels: [id] });
    if (!isLate) expect((await remove()).status).toBe(204);
    await app.settled();
    expect(labelReply.status).toBe(isLate ? 422 : 200);
    const changed = ['issue.updated', 'issue.labeled'];
    expect(await app.eventTypes(from)).toEqual(
      isLate ? ['label.deleted'] : [...changed, 'label.deleted', ...changed],
    );
    const { labels, version } = (await app.call('GET', `/api/v1/issues/${issueId}`)).json;
    expect([labels.length, version]).toEqual([1, isLate ? 1 : 3]);
  }
});
