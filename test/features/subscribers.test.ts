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
