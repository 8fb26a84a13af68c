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
