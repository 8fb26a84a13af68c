import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Json } from '../../app.ts';
import { join, startFixtures, v1, type PeopleFixtures, type Person } from '../people.ts';

let fixtures: PeopleFixtures;
let issue: Json;
let zoe: Person;

beforeAll(async () => {
  fixtures = await startFixtures();
  zoe = await join(fixtures.app, 'Zoë Kovač');
  await join(fixtures.app, 'Ben Smith');
  issue = await fixtures.file('The save dialog crashes');
});
afterAll(() => fixtures.app.stop());

const say = async (body: string): Promise<Json> =>
  (await fixtures.app.call('POST', `${v1}/issues/${issue.id}/comments`, { body })).json;
const namesIn = async (body: string): Promise<string[]> =>
  (await say(body)).mentions.map(({ name }: Json) => name);

test('a member is mentioned by name, first name, handle or id, in any case and at any position', async () => {
  const ana = ['Ana Lindqvist'];
  for (const mention of [
    '@Ana Lindqvist',
    '@ana',
    '@ANA',
    '@ana.lindqvist',
    '@ana-lindqvist',
    '@AnaLindqvist',
  ])
    for (const text of [
      mention,
      `(${mention})`,
      `${mention}, look`,
      `**${mention}**!`,
      `> ${mention}.`,
      `- [ ] ${mention}`,
    ])
      expect([text, await namesIn(text)]).toEqual([text, ana]);
  expect(await namesIn(`@${fixtures.ana.id}: see`)).toEqual(ana);
  expect(await namesIn('@zoë, @Ben Okafor, @ana and @Zoë Kovač')).toEqual([
    'Zoë Kovač',
    'Ben Okafor',
    ...ana,
  ]);
});

test('code, addresses, ambiguous names and unknown names mention no member', async () => {
  for (const text of [
    '`@ana`',
    '```\n@ana\n```',
    '    @ana',
    'mail@ana',
    'https://a.example/@ana',
    '@ben',
    '@nobody',
    '@anatomy',
    '@ ana',
    '@',
    '@usr_00000000000000000000000001',
    '<!-- --> a@ana.example',
  ])
    expect([text, await namesIn(text)]).toEqual([text, []]);
});

test('an edit adds mentions, a rename changes none, and a removed member is not mentioned', async () => {
  const { app } = fixtures;
  const comment = await say('Ask @ana.');
  const one = `${v1}/comments/${comment.id}`;
  const from = await app.lastSequence();
  const edited = (await app.call('PATCH', one, { body: 'Ask @zoë.' })).json;
  expect(edited.mentions).toEqual([{ id: zoe.id, name: 'Zoë Kovač' }]);
  const [event] = (await app.call('GET', `${v1}/events?after=${from}&types=comment.updated`)).json.data;
  expect(event.data.previous).toEqual({
    body: 'Ask @ana.',
    mentions: [{ id: fixtures.ana.id, name: 'Ana Lindqvist' }],
    editedAt: null,
  });
  await app.call('PATCH', `${v1}/members/${zoe.id}`, { name: 'Zoë Novak' });
  expect((await app.call('GET', one)).json.mentions).toEqual([{ id: zoe.id, name: 'Zoë Novak' }]);
  await app.call('DELETE', `${v1}/members/${zoe.id}`);
  expect(await namesIn('@zoë')).toEqual([]);
});

test('an edited description mentions only new members', async () => {
  const { app, ana } = fixtures;
  const created = await fixtures.file('Described', { description: 'For @ana.' });
  const inbox = async (): Promise<Json[]> => {
    await app.settled();
    return (await ana.call('GET', `${v1}/inbox`)).json.data.filter(
      (item: Json) => item.issue?.id === created.id,
    );
  };
  expect(await inbox()).toMatchObject([{ reason: 'mentioned', body: 'For @ana.', count: 1 }]);
  await app.call('PATCH', `${v1}/issues/${created.id}`, { description: 'For @ana, again.' });
  expect(await inbox()).toMatchObject([{ count: 1 }]);
});

test('a text of ten thousand characters and one with unclosed marks are parsed in milliseconds', async () => {
  const started = process.cpuUsage().user;
  for (const body of [
    '@'.repeat(60_000),
    '@ana '.repeat(12_000),
    '@a a a a '.repeat(6_000),
    '[@'.repeat(30_000),
  ])
    expect((await say(body)).mentions.length).toBeLessThanOrEqual(1);
  expect((process.cpuUsage().user - started) / 1_000_000).toBeLessThan(3);
});
