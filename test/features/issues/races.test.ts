// Concurrent writes to the same issues: one wins, the others get a conflict, and invariants across issues hold.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type Reply, type TestApp } from '../../app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const make = async (more: object = {}): Promise<Json> =>
  (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Contested', ...more })).json;
const at = (id: string): string => `/api/v1/issues/${id}`;
const many = (count: number, ask: (index: number) => Promise<Reply>): Promise<Reply[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => ask(index)));
const statuses = (replies: Reply[]): Record<number, number> =>
  replies.reduce<Record<number, number>>(
    (counts, { status }) => ({ ...counts, [status]: (counts[status] ?? 0) + 1 }),
    {},
  );

test('one of several writes to the same version succeeds, and the others are answered with 412', async () => {
  const { id } = await make();
  const etag = (await app.call('GET', at(id))).headers.get('etag')!;
  const from = await app.lastSequence();
  const replies = await many(40, (index) =>
    app.call('PATCH', at(id), { title: `Winner ${index}` }, { 'if-match': etag }),
  );
  expect(statuses(replies)).toEqual({ 200: 1, 412: 39 });
  const winner = replies.find(({ status }) => status === 200)!;
  expect((await app.call('GET', at(id))).json).toEqual(winner.json);
  expect(await app.eventTypes(from)).toEqual(['issue.updated']);
});

test('an issue is deleted once and restored once, with one event each', async () => {
  const { id } = await make();
  const from = await app.lastSequence();
  expect(statuses(await many(20, () => app.call('DELETE', at(id))))).toEqual({ 204: 1, 404: 19 });
  expect(statuses(await many(20, () => app.call('POST', `${at(id)}/restore`)))).toEqual({ 200: 20 });
  expect(await app.eventTypes(from)).toEqual(['issue.deleted', 'issue.restored']);
});

test('concurrent updates without a version all take effect, and the log contains them in order', async () => {
  const { id } = await make();
  const from = await app.lastSequence();
  const replies = await many(40, (index) =>
    app.call(
      'PATCH',
      at(id),
      index % 2 === 0 ? { estimate: index + 1 } : { labels: [['bug'], ['feature']][index % 4 === 1 ? 0 : 1] },
    ),
  );
  expect(statuses(replies)).toEqual({ 200: 40 });
  const events: Json[] = (await app.call('GET', `/api/v1/events?after=${from}&types=issue.updated&limit=100`))
    .json.data;
  const versions = events.map(({ data }) => data.version);
  expect(versions).toEqual(versions.map((_, index) => index + 2));
  for (const [index, { data }] of events.entries())
    for (const [field, old] of Object.entries(data.previous))
      expect([index, field, old]).toEqual([
        index,
        field,
        index === 0 ? (field === 'estimate' ? null : []) : events[index - 1].data[field],
      ]);
});

test('concurrent parent changes never form a cycle', async () => {
  for (let round = 0; round < 12; round++) {
    const [a, b, c] = [await make(), await make(), await make()];
    const under = (id: string, parentId: string): Promise<Reply> => app.call('PATCH', at(id), { parentId });
    // Alternates a longer cycle through an existing edge with a short one.
    if (round % 2 === 0) await under(b.id, c.id);
    const replies = await Promise.all(
      round % 2 === 0 ? [under(c.id, a.id), under(a.id, b.id)] : [under(a.id, b.id), under(b.id, a.id)],
    );
    expect([round, statuses(replies)]).toEqual([round, { 200: 1, 422: 1 }]);
    const [child] = replies.filter(({ status }) => status === 200).map(({ json }) => json);
    expect((await app.call('GET', at(child.id))).json.parent).toEqual(child.parent);
    expect(child.parent).not.toBeNull();
    expect(replies.find(({ status }) => status === 422)!.json.error.details).toMatchObject([
      { path: 'parentId', issue: 'conflict' },
    ]);
  }
});

test('concurrent bulk creations take consecutive numbers', async () => {
  await app.call('POST', '/api/v1/teams', { key: 'BULK' });
  const replies = await many(20, (index) =>
    app.call('POST', '/api/v1/issues/bulk', {
      issues: Array.from({ length: 10 }, () => ({ team: 'BULK', title: `${index}` })),
    }),
  );
  const runs: number[][] = replies.map(({ json }) =>
    json.data.map(({ identifier }: Json) => Number(identifier.slice(5))),
  );
  for (const run of runs) expect(run).toEqual(run.map((_, index) => run[0]! + index));
  expect(runs.flat().sort((x, y) => x - y)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
});

test('labels that are added and removed concurrently are all added and removed', async () => {
  const names = Array.from({ length: 24 }, (_, index) => `label ${index}`);
  for (const name of names) await app.call('POST', '/api/v1/labels', { name });
  const { id } = await make({ labels: names.slice(0, 12) });
  const from = await app.lastSequence();
  const replies = await many(24, (index) =>
    app.call('PATCH', at(id), { [index < 12 ? 'removeLabels' : 'addLabels']: [names[index]!.toUpperCase()] }),
  );
  expect(statuses(replies)).toEqual({ 200: 24 });
  const { labels, version } = (await app.call('GET', at(id))).json;
  expect(labels.map(({ name }: Json) => name).sort()).toEqual(names.slice(12).sort());
  expect(version).toBe(25);
  const eventTypes = await app.eventTypes(from);
  expect(eventTypes.filter((type) => type === 'issue.labeled')).toHaveLength(24);
});
