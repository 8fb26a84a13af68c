// Hostile exports of GitHub, Linear and Jira: each loses only its own rows, triggers no request to other servers, and
// adds nothing on a second run.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { startApp, type Json, type TestApp } from '../app.ts';
import { tatami, temporary } from '../cli/tatami.ts';

const dir = temporary();
let app: TestApp;
let requestCount = 0;
const elsewhere = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch() {
    requestCount++;
    return new Response();
  },
});
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.stop();
  await elsewhere.stop(true);
  dir[Symbol.dispose]();
});

async function imported(name: string, text: string) {
  const file = dir.path(name);
  writeFileSync(file, text);
  return tatami(['import', file, '--server', app.url, '--token', app.workspace.apiKey, '--json']);
}
const issuesOf = async (source: string): Promise<Json[]> => {
  const filter = encodeURIComponent(JSON.stringify({ externalSource: source }));
  return (await app.call('GET', `/api/v1/issues?limit=100&sort=number&filter=${filter}`)).json.data;
};
const csv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(',')).join('\n');

const words = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];
const address = (): string => `http://127.0.0.1:${elsewhere.port}/x.png`;

test('Jira: names of built-in object properties are no types, priorities or links', async () => {
  const header = [
    'Issue key',
    'Summary',
    'Status',
    'Issue Type',
    'Priority',
    'Parent',
    'Attachment',
    'Sprint',
  ];
  const links = words.map((word) => `Outward issue link (${word})`);
  const rows = words.map((word, at) => [
    ...[
      `ENG-${at + 1}`,
      `About ${word}`,
      word,
      word,
      word,
      `ENG-${((at + 1) % words.length) + 1}`,
      address(),
      word,
    ],
    ...words.map((_, index) => (index === at ? `ENG-${((at + 1) % words.length) + 1}` : '')),
  ]);
  const text = csv([[...header, ...links], ...rows, rows[0]!]);
  const first = await imported('jira.csv', text);
  expect([first.code, first.err.includes('TypeError'), first.json.created, first.json.skipped]).toEqual([
    0,
    false,
    5,
    1,
  ]);
  const issues = await issuesOf('jira');
  expect(issues.map(({ priority }) => priority)).toEqual(words.map(() => 'none'));
  // A cycle of five parents loses its last one.
  expect(issues.filter(({ parent }) => parent !== null)).toHaveLength(4);
  expect((await imported('jira.csv', text)).json).toMatchObject({
    created: 0,
    skipped: 6,
    parents: 0,
    relations: 0,
  });
}, 30_000);

test('Linear: huge numbers, invalid dates, bidirectional and control characters, and fields of a megabyte are handled', async () => {
  const header = [
    'ID',
    'Title',
    'Status',
    'Team',
    'Priority',
    'Estimate',
    'Due Date',
    'Description',
    'Labels',
    'Cycle Name',
    'Cycle Start',
    'Cycle End',
  ];
  const row = (id: string, more: Readonly<Record<string, string>>): string[] =>
    header.map((column) => ({ ID: id, Title: 'x', Status: 'Todo', Team: 'ENG', ...more })[column] ?? '');
  const rows = [
    row('ENG-101', { Estimate: '1e308', Priority: 'Infinity', 'Due Date': '9'.repeat(400) }),
    row('ENG-102', { Title: 'a\u202egnp.exe\u0007\u001b[2J\0', Description: 'x'.repeat(1_000_000) }),
    row('ENG-103', { Title: 't'.repeat(100_000), Labels: words.join(',') }),
    row('ENG-104', { Labels: 'l'.repeat(100_000) }),
    row('ENG-105', { 'Cycle Name': 'c', 'Cycle Start': '+275760-09-13', 'Cycle End': 'never' }),
    row(`ENG-${'9'.repeat(300)}`, { Title: 'y' }),
    row('ENG-106', { 'Due Date': '2027-99-99' }),
    row('__proto__', { Title: 'z', Team: '__proto__' }),
  ];
  const { code, json, err } = await imported('linear.csv', csv([header, ...rows]));
  expect([code === 0 || code === 1, err.includes('TypeError'), err.includes('\u001b')]).toEqual([
    true,
    false,
    false,
  ]);
  expect(json.created + json.failed).toBe(rows.length);
  const titles = (await issuesOf('linear')).map(({ title }) => title);
  expect(titles).toContain('z');
  expect(titles.every((title) => !title.includes('\0') && [...title].length <= 500)).toBe(true);
}, 30_000);

test('GitHub: deep JSON, half surrogate pairs, prototype keys and remote addresses are handled', async () => {
  const entry = (number: number, more: object = {}): object => ({
    number,
    title: `Issue ${number}`,
    html_url: `https://github.com/acme/eng/issues/${number}`,
    ...more,
  });
  const entries = [
    entry(201, {
      body: `![x](${address()}) <img src="${address()}">`,
      url: address(),
      parent_issue_url: address(),
    }),
    entry(202, { title: 'half \ud800', body: 'half \udfff' }),
    entry(1e300),
    entry(-7),
    entry(203, {
      labels: words,
      assignees: [{ login: '__proto__' }],
      state: 'closed',
      state_reason: 'constructor',
    }),
    entry(204, { parent: entry(204), sub_issues: [entry(204), entry(201)], duplicate_of: entry(204) }),
    entry(204, { title: 'A second one of that number' }),
    { number: '1', title: [] },
    null,
    7,
  ];
  const deep = `{"number":205,"title":"deep","reactionGroups":${'['.repeat(4_000)}${']'.repeat(4_000)}}`;
  const proto = '{"number":206,"title":"proto","__proto__":{"pull_request":{}},"constructor":1}';
  const text = `${JSON.stringify(entries).slice(0, -1)},${deep},${proto}]`;
  const { code, json, err } = await imported('github.json', text);
  expect([code, err.includes('TypeError'), json.failed >= 3]).toEqual([1, false, true]);
  const issues = await issuesOf('github');
  const ids = issues.map(({ externalId }) => externalId);
  expect(ids).toContain('acme/eng#204');
  expect(ids).toContain('github#206');
  expect(issues.every(({ title, description }) => title.isWellFormed() && description.isWellFormed())).toBe(
    true,
  );
  expect(issues.find(({ externalId }) => externalId === 'acme/eng#204')?.parent).toBeNull();
  expect(({} as Json).pull_request).toBeUndefined();
  const tooDeep = await imported('deep.json', `[${'['.repeat(500_000)}`);
  expect([tooDeep.code, JSON.stringify(tooDeep.json)]).toEqual([1, expect.stringContaining('is not JSON')]);
  expect(requestCount).toBe(0);
}, 30_000);

test('a file name with shell syntax is quoted in a suggested command', async () => {
  const { code, json } = await imported("x'$(touch y)'.csv", 'repo,title\n\xff'.replace('\xff', ''));
  expect([code, json.error.code]).toEqual([1, 'failed']);
  const file = dir.path("it's $(here).csv");
  writeFileSync(file, Buffer.from([0x72, 0x2c, 0x0a, 0xff, 0xfe, 0x0a]));
  const { json: said } = await tatami(['import', file, '--server', app.url, '--token', 'x', '--json']);
  expect(said.error.message).toContain(`-t UTF-8 'it'\\''s $(here).csv' > 'utf8-it'\\''s $(here).csv'`);
}, 30_000);
