import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Json } from '../app.ts';
import { startFixtures, v1, type PeopleFixtures } from './people.ts';

let fixtures: PeopleFixtures;
let issue: Json;
let comment: Json;

beforeAll(async () => {
  fixtures = await startFixtures();
  issue = await fixtures.file('The save dialog crashes');
  comment = (await fixtures.app.call('POST', `${v1}/issues/${issue.id}/comments`, { body: 'Here too.' }))
    .json;
});
afterAll(() => fixtures.app.stop());

test('a reaction is returned grouped by emoji with its actors and count, and its event names the issue', async () => {
  const { app, ana, ben } = fixtures;
  const on = `${v1}/comments/${comment.id}/reactions`;
  const from = await app.lastSequence();
  const created = await ana.call('POST', on, { emoji: 'thumbsup' });
  expect([created.status, created.json]).toMatchObject([
    201,
    {
      emoji: '👍',
      commentId: comment.id,
      issue: { id: issue.id, identifier: issue.identifier },
      actor: { kind: 'user', id: ana.id, name: 'Ana Lindqvist' },
      version: 1,
    },
  ]);
  const again = await ana.call('POST', on, { emoji: '👍' });
  expect([again.status, again.json]).toEqual([200, created.json]);
  app.clock.advance(1_000);
  await ben.call('POST', on, { emoji: ':+1:' });
  await ben.call('POST', on, { emoji: '🇭🇷' });
  expect((await ben.call('GET', on)).json.data).toEqual([
    {
      emoji: '👍',
      count: 2,
      mine: expect.stringMatching(/^rct_/),
      who: [
        { kind: 'user', id: ana.id, name: 'Ana Lindqvist' },
        { kind: 'user', id: ben.id, name: 'Ben Okafor' },
      ],
    },
    {
      emoji: '🇭🇷',
      count: 1,
      mine: expect.stringMatching(/^rct_/),
      who: [{ kind: 'user', id: ben.id, name: 'Ben Okafor' }],
    },
  ]);
  const { data: events } = (await app.call('GET', `${v1}/events?after=${from}`)).json;
  expect(events.map(({ type }: Json) => type)).toEqual(Array(3).fill('reaction.added'));
  expect(events[0].data).toEqual(created.json);
  expect((await app.call('GET', `${v1}/issues/${issue.id}`)).json.version).toBe(1);
});

test('only its author removes a reaction, repeated removal succeeds, and the author can react again', async () => {
  const { app, ana, ben } = fixtures;
  const on = `${v1}/issues/${issue.identifier}/reactions`;
  const { json: created } = await ana.call('POST', on, { emoji: 'tada' });
  expect(created.commentId).toBe(null);
  const one = `${v1}/reactions/${created.id}`;
  expect((await ben.call('DELETE', one)).json.error.code).toBe('forbidden');
  const from = await app.lastSequence();
  for (const status of [204, 204]) expect((await ana.call('DELETE', one)).status).toBe(status);
  expect((await ana.call('GET', one)).status).toBe(404);
  const { json: next } = await ana.call('POST', on, { emoji: '🎉' });
  expect(next.id).not.toBe(created.id);
  expect(await app.eventTypes(from)).toEqual(['reaction.removed', 'reaction.added']);
  expect((await ana.call('GET', on)).json.data).toMatchObject([{ emoji: '🎉', count: 1, mine: next.id }]);
});

test('eight concurrent identical reactions create one reaction and one event', async () => {
  const { app, ana, ben } = fixtures;
  const on = `${v1}/issues/${issue.id}/reactions`;
  const from = await app.lastSequence();
  const all = await Promise.all(
    [ana, ben].flatMap(({ call }) => Array.from({ length: 8 }, () => call('POST', on, { emoji: 'rocket' }))),
  );
  expect(all.map(({ status }) => status).toSorted()).toEqual([...Array(14).fill(200), 201, 201]);
  expect(new Set(all.map(({ json }) => json.id)).size).toBe(2);
  expect(await app.eventTypes(from)).toEqual(['reaction.added', 'reaction.added']);
  const ids = new Set(all.slice(0, 8).map(({ json }) => json.id));
  const gone = await Promise.all(
    Array.from({ length: 4 }, () => ana.call('DELETE', `${v1}/reactions/${[...ids][0]}`)),
  );
  expect(gone.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
  expect((await app.eventTypes(from)).filter((type) => type === 'reaction.removed').length).toBe(1);
});

test('an invalid emoji is rejected with a suggestion, and deleted issues and comments take no reactions', async () => {
  const { app } = fixtures;
  const on = `${v1}/issues/${issue.id}/reactions`;
  for (const emoji of ['', ' ', 'x', '👍👍', 'constructor', '<b>', '1', '👍 '])
    expect([emoji, (await app.call('POST', on, { emoji })).status]).toEqual([emoji, 422]);
  for (const emoji of ['❤', '👩‍👩‍👧‍👦', '🏳️‍🌈', '1️⃣'])
    expect([emoji, (await app.call('POST', on, { emoji })).status]).toEqual([emoji, 201]);
  const { json: other } = await app.call('POST', `${v1}/issues/${issue.id}/comments`, { body: 'Gone' });
  await app.call('DELETE', `${v1}/comments/${other.id}`);
  expect((await app.call('POST', `${v1}/comments/${other.id}/reactions`, { emoji: '👍' })).status).toBe(404);
});

test('a comment accepts at most fifty different emoji, also under concurrent requests', async () => {
  const { app, ana } = fixtures;
  const many = Array.from({ length: 60 }, (_, nth) => String.fromCodePoint(0x1f400 + nth));
  const busy = await fixtures.file('Busy');
  const on = `${v1}/issues/${busy.id}/reactions`;
  const all = await Promise.all(
    many.map((emoji, nth) => (nth % 2 ? ana.call : app.call)('POST', on, { emoji })),
  );
  const statuses = all.map(({ status }) => status).toSorted();
  expect(statuses).toEqual([...Array(50).fill(201), ...Array(10).fill(422)]);
  expect((await app.call('GET', on)).json.data.length).toBe(50);
});

test('one request lists the reactions of many comments, without deleted comments and those of other issues', async () => {
  const { app, ana, ben } = fixtures;
  const one = await fixtures.file('Discussed');
  const other = await fixtures.file('Discussed elsewhere');
  const add = async ({ id }: Json, body: string): Promise<string> =>
    (await app.call('POST', `${v1}/issues/${id}/comments`, { body })).json.id;
  const react = ({ call }: Pick<typeof ana, 'call'>, id: string, emoji: string) =>
    call('POST', `${v1}/comments/${id}/reactions`, { emoji });
  const [first, quiet, second, deleted] = [
    await add(one, 'First'),
    await add(one, 'Quiet'),
    await add(one, 'Second'),
    await add(one, 'Deleted'),
  ];
  const elsewhere = await add(other, 'Elsewhere');
  for (const id of [first, second, deleted, elsewhere]) await react(ana, id, 'tada');
  app.clock.advance(1_000);
  await react(ben, second, 'tada');
  await react(ben, second, 'eyes');
  await app.call('DELETE', `${v1}/comments/${deleted}`);

  const ids = [second, deleted, elsewhere, quiet, first, second];
  const path = `${v1}/issues/${one.identifier}/comments/reactions?ids=${ids.join()}`;
  const { status, json } = await ana.call('GET', path);
  expect(status).toBe(200);
  const single = async (id: string): Promise<Json> =>
    (await ana.call('GET', `${v1}/comments/${id}/reactions`)).json.data;
  expect(json.data).toEqual([
    { commentId: second, reactions: await single(second) },
    { commentId: first, reactions: await single(first) },
  ]);
  expect(json.data[0].reactions.map(({ emoji, count }: Json) => [emoji, count])).toEqual([
    ['🎉', 2],
    ['👀', 1],
  ]);
});

test('a list of reactions by comment takes up to 100 ids of comments of a visible issue', async () => {
  const { app } = fixtures;
  const on = (id: string, ids: string) => app.call('GET', `${v1}/issues/${id}/comments/reactions?ids=${ids}`);
  const ids = (count: number): string =>
    Array.from({ length: count }, (_, n) => `cmt_${String(n).padStart(26, '0')}`).join();
  expect((await on(issue.id, ids(100))).json).toEqual({ data: [] });
  for (const wrong of [ids(101), issue.id, '', `${comment.id},`])
    expect([wrong, (await on(issue.id, wrong)).status]).toEqual([wrong, 422]);
  const gone = await fixtures.file('Gone');
  await app.call('DELETE', `${v1}/issues/${gone.id}`);
  expect((await on(gone.id, comment.id)).status).toBe(404);
});

test('comments of an issue are listed by their ids, in the order of the list', async () => {
  const { app } = fixtures;
  const one = await fixtures.file('Chosen');
  const added: string[] = [];
  for (const body of ['First', 'Second', 'Third']) {
    added.push((await app.call('POST', `${v1}/issues/${one.id}/comments`, { body })).json.id);
    app.clock.advance(1_000);
  }
  const path = `${v1}/issues/${one.id}/comments?ids=${[added[2], comment.id, added[0]].join()}`;
  const { json } = await app.call('GET', path);
  expect(json.data.map(({ id }: Json) => id)).toEqual([added[0], added[2]]);
  expect((await app.call('GET', `${v1}/issues/${one.id}/comments?ids=nobody`)).status).toBe(422);
});
