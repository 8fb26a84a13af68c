import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Json } from '../app.ts';
import { install, packSource } from './plugins/pack.ts';
import { startFixtures, v1, type PeopleFixtures } from './people.ts';

let fixtures: PeopleFixtures;
beforeAll(async () => {
  fixtures = await startFixtures();
});
afterAll(() => fixtures.app.stop());

const subscribersOf = async (id: string, query = ''): Promise<Json> => {
  await fixtures.app.settled();
  return (await fixtures.app.call('GET', `${v1}/issues/${id}/subscribers${query}`)).json;
};
const whyOf = async (id: string): Promise<string[]> =>
  (await subscribersOf(id)).data.map(({ member, reason }: Json) => `${member.name}: ${reason}`);

test('creators, assignees, commenters and mentioned members are subscribed to an issue, once each', async () => {
  const { app, ana, ben } = fixtures;
  const issue = await fixtures.file('Followed');
  app.clock.advance(1_000);
  await app.call('PATCH', `${v1}/issues/${issue.id}`, { assigneeId: ana.id });
  await app.settled();
  app.clock.advance(1_000);
  await ben.call('POST', `${v1}/issues/${issue.id}/comments`, { body: 'Me too, @ana.' });
  await ben.call('POST', `${v1}/issues/${issue.id}/comments`, { body: 'And again.' });
  expect(await whyOf(issue.id)).toEqual([
    'Acme owner: created',
    'Ana Lindqvist: assigned',
    'Ben Okafor: commented',
  ]);
  const { data } = await subscribersOf(issue.id);
  expect(data[1]).toMatchObject({
    id: expect.stringMatching(/^sub_/),
    issue: { id: issue.id, identifier: issue.identifier },
    member: { id: ana.id, name: 'Ana Lindqvist' },
    version: 1,
  });
  const paged: Json[] = [];
  for (let after = ''; ;) {
    const page = await subscribersOf(issue.id, `?limit=1${after}`);
    paged.push(...page.data);
    if (!page.pageInfo.hasNextPage) break;
    after = `&after=${page.pageInfo.endCursor}`;
  }
  expect(paged).toEqual(data);
});

test('an unsubscribed member stays unsubscribed until a mention', async () => {
  const { app, ana } = fixtures;
  const issue = await fixtures.file('Muted', { assigneeId: ana.id });
  const mine = `${v1}/subscribers/${issue.identifier}/me`;
  await app.settled();
  const from = await app.lastSequence();
  for (const status of [204, 204]) expect((await ana.call('DELETE', mine)).status).toBe(status);
  await ana.call('POST', `${v1}/issues/${issue.id}/comments`, { body: 'Only this.' });
  await app.settled();
  await app.call('PATCH', `${v1}/issues/${issue.id}`, { priority: 'high' });
  await app.settled();
  const types = (await app.eventTypes(from)).filter((type) => !type.startsWith('inbox.'));
  expect(types).toEqual(['issue.unsubscribed', 'comment.added', 'issue.updated']);
  expect(await whyOf(issue.id)).toEqual(['Acme owner: created']);
  const items = async () =>
    (await ana.call('GET', `${v1}/inbox`)).json.data.filter((item: Json) => item.issue.id === issue.id);
  expect((await items()).map(({ reason }: Json) => reason)).toEqual(['assigned']);
  await app.call('POST', `${v1}/issues/${issue.id}/comments`, { body: '@ana?' });
  expect(await whyOf(issue.id)).toContain('Ana Lindqvist: mentioned');
});

test('a creator can unsubscribe; members added by hand, also concurrently, cause one event each', async () => {
  const { app, ben } = fixtures;
  const issue = await fixtures.file('By hand');
  const at = (who: string): string => `${v1}/subscribers/${issue.id}/${who}`;
  const from = await app.lastSequence();
  await app.call('DELETE', at('me'));
  expect(await whyOf(issue.id)).toEqual([]);
  const all = await Promise.all(Array.from({ length: 6 }, () => app.call('PUT', at(ben.id))));
  expect(new Set(all.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(all[0]!.json).toMatchObject({ member: { id: ben.id }, reason: 'added' });
  expect(await app.eventTypes(from)).toEqual(['issue.unsubscribed', 'issue.subscribed']);
  const { data } = (await app.call('GET', `${v1}/events?after=${from}`)).json;
  expect(data[1].data).toEqual(all[0]!.json);
  await app.call('PUT', at('me'));
  expect((await whyOf(issue.id)).length).toBe(2);
  expect((await app.call('PUT', at('usr_00000000000000000000000001'))).status).toBe(404);
});

test('a filter of a subscription to all issue events does not match subscriber events', async () => {
  const { app, ana } = fixtures;
  const plugin = await install(
    app.call,
    await packSource(
      `{ id: 'com.test.high', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } }, on: { 'issue.subscribed': { handle: (event, ctx) => ctx.log.info(event.data.member.name) } } }`,
    ),
  );
  const hook = { url: 'https://a.example/', events: ['issue.*'], filter: { priority: ['high'] } };
  expect((await app.call('POST', `${v1}/webhooks`, hook)).status).toBe(201);
  await fixtures.file('High', { priority: 'high', assigneeId: ana.id });
  await app.settled();
  const { data } = (await app.call('GET', `${v1}/plugins/${plugin.id}/runs`)).json;
  expect(data.map(({ logs }: Json) => logs[0].message)).toEqual(['Ana Lindqvist']);
});

test('`subscriber` lists the issues that a member is subscribed to, on all pages, and counts them', async () => {
  const { app, ana, ben } = fixtures;
  const add = (id: string, memberId: string): Promise<unknown> =>
    app.call('PUT', `${v1}/subscribers/${id}/${memberId}`);
  const own = (await ana.call('POST', `${v1}/issues`, { team: 'ENG', title: 'Created by Ana' })).json;
  const left = (await ana.call('POST', `${v1}/issues`, { team: 'ENG', title: 'Left by Ana' })).json;
  const added = await fixtures.file('Followed by request');
  const other = await fixtures.file('Followed by Ben');
  await add(added.id, ana.id);
  await add(other.id, ben.id);
  await ana.call('DELETE', `${v1}/subscribers/${left.id}/me`);
  await add(other.id, ana.id);
  await ana.call('DELETE', `${v1}/subscribers/${other.id}/me`);
  await app.settled();
  const among = JSON.stringify({ id: [own.id, left.id, added.id, other.id] });
  const titles = async (who: typeof ana.call, query: string): Promise<string[]> => {
    const found: string[] = [];
    const filter = `filter=${encodeURIComponent(among)}&limit=1&sort=createdAt`;
    for (let after = ''; ;) {
      const { data, pageInfo } = (await who('GET', `${v1}/issues?${filter}&${query}${after}`)).json;
      found.push(...data.map(({ title }: Json) => title));
      if (!pageInfo.hasNextPage) return found;
      after = `&after=${encodeURIComponent(pageInfo.endCursor)}`;
    }
  };
  const followed = ['Created by Ana', 'Followed by request'];
  expect(await titles(ana.call, 'subscriber=me')).toEqual(followed);
  expect(await titles(ben.call, `subscriber=${ana.id}`)).toEqual(followed);
  expect(await titles(ben.call, 'subscriber=me')).toEqual(['Followed by Ben']);
  const counted = `filter=${encodeURIComponent(among)}&subscriber=me`;
  expect((await ana.call('GET', `${v1}/issues/count?${counted}`)).json.count).toBe(2);
  await app.call('DELETE', `${v1}/issues/${own.id}`);
  expect(await titles(ana.call, 'subscriber=me')).toEqual(['Followed by request']);
  expect(await titles(ana.call, 'subscriber=me&deleted=include')).toEqual(followed);
  expect(await titles(ana.call, 'subscriber=me&deleted=only')).toEqual(['Created by Ana']);
});

test('`subscriber` rejects members who do not exist or were removed, and lists of the past', async () => {
  const { app } = fixtures;
  const { json: gone } = await app.call('POST', `${v1}/members`, { name: 'Gone' });
  await app.call('DELETE', `${v1}/members/${gone.id}`);
  const { status, json } = await app.call('GET', `${v1}/issues?subscriber=${gone.id}`);
  expect([status, json.error.details]).toMatchObject([422, [{ path: 'subscriber', issue: 'not_found' }]]);
  expect((await app.call('GET', `${v1}/issues?subscriber=nobody`)).status).toBe(422);
  const past = await app.call('GET', `${v1}/issues?subscriber=me&asOf=1`);
  expect(past.json.error.details).toMatchObject([{ path: 'subscriber', issue: 'conflict' }]);
});
