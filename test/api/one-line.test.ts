// Titles and names are one line of visible characters, for every writer and route.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { contracts } from '../../core/features/contracts.ts';
import { inOneLine } from '../../core/platform/lib/text/printable.ts';
import { oneLine } from '../../core/platform/lib/schema.ts';
import { startApp, type Json, type TestApp } from '../app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const sent = '\u2028Invoice\r\n\tgpj\u202e.exe\u200b\u{e0041}\u0007 \ufeffof ­Åsa\n';
const stored = 'Invoice gpj.exe of Åsa';

test('line breaks become spaces and invisible characters are removed; emoji, joiners and other scripts remain', () => {
  const england = '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}';
  const unchanged = [
    'Plain',
    'inner  spaces stay',
    `${england} 👩‍👧 ❤️ 1️⃣`,
    'می‌خواهم',
    'שלום',
    'e\u0301',
    '統合',
  ];
  expect(unchanged.map(inOneLine)).toEqual(unchanged);
  expect([sent, 'a\u0085b\vc', '\u{e0067}hidden'].map(inOneLine)).toEqual([stored, 'a b c', 'hidden']);
});

/** All of Unicode's White_Space, with invisible characters between. */
const spaces = [
  ...'\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008',
  ...'\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
];

test('white space around a text is removed, also next to invisible characters', () => {
  for (const space of [...spaces, ' \u200b\u00a0', '\ufeff \n'])
    expect([space, inOneLine(`${space}a b${space}`), inOneLine(space)]).toEqual([space, 'a b', '']);
});

test('names that differ only by surrounding white space are equal', async () => {
  const created = await app.call('POST', '/api/v1/labels', { name: '\u00a0Outage ' });
  expect([created.status, created.json.name]).toEqual([201, 'Outage']);
  for (const name of ['Outage', ' Outage', 'outage\u3000', '\u200b Outage\n']) {
    const again = await app.call('POST', '/api/v1/labels', { name });
    expect([name, again.status, again.json.error?.details[0]]).toMatchObject([
      name,
      422,
      { path: 'name', issue: 'already_exists' },
    ]);
  }
  const issue = await app.call('POST', '/api/v1/issues', {
    ...{ team: 'ENG', title: '\u2003Down ', labels: [' outage '] },
  });
  const response = (await app.call('GET', `/api/v1/issues/${issue.json.id}`)).json;
  expect(response).toMatchObject({ title: 'Down', labels: [{ name: 'Outage' }] });
  const listed = await app.call('GET', '/api/v1/issues?label=Outage%20');
  expect(listed.json.data.map(({ id }: Json) => id)).toEqual([issue.json.id]);
  const blank = await app.call('POST', '/api/v1/labels', { name: '\u00a0 \u3000' });
  expect([blank.status, blank.json.error.details[0].path]).toEqual([422, 'name']);
});

test('list items that become equal are refused as duplicates', async () => {
  const refused = (stages: string[]) => app.call('POST', '/api/v1/pipelines', { name: 'Editor', stages });
  const [equal, spaced] = [await refused(['out', 'out']), await refused(['out', 'out '])];
  expect([spaced.status, spaced.json.error.details]).toEqual([422, equal.json.error.details]);
});

test('every title and name of a contract is normalized or has a check of its own', () => {
  const own = ['member.name', 'oauth_app.name'];
  const loose = contracts.flatMap(({ name, fields }) =>
    Object.entries(fields).flatMap(([key, { input, options, type }]) =>
      /^(name|title)$/.test(key) && type === 'text' && options.write !== 'never' && !(oneLine in input)
        ? [`${name}.${key}`]
        : [],
    ),
  );
  expect(loose.sort()).toEqual(own);
});

test('titles and names are stored, returned and emitted in one line', async () => {
  const nested = { name: sent, options: [{ value: 'a', name: sent }], key: 'size', type: 'select' };
  const bodies: [path: string, body: object, shown: object][] = [
    ['/teams', { key: 'OPS', name: sent }, { name: stored }],
    ['/projects', { name: sent }, { name: stored }],
    ['/labels', { name: sent }, { name: stored }],
    ['/fields', nested, { name: stored, options: [{ name: stored }] }],
    ['/pipelines', { name: sent, stages: [sent, 'out'] }, { name: stored, stages: [stored, 'out'] }],
    ['/templates', { name: sent, subIssues: [sent] }, { name: stored, subIssues: [stored] }],
    ['/issues', { team: 'ENG', title: sent }, { title: stored }],
    ['/api-keys', { name: sent, scopes: ['issues:read'] }, { name: stored }],
    [
      '/boards',
      { name: sent, groupBy: 'priority', columns: [{ value: 'high', title: sent }] },
      { name: stored, columns: [{ title: stored }] },
    ],
  ];
  for (const [path, body, response] of bodies) {
    const { json } = await app.call('POST', `/api/v1${path}`, body);
    expect([path, json]).toEqual([path, expect.objectContaining({ id: expect.any(String) })]);
    expect(json).toMatchObject(response);
  }
  const since = await app.lastSequence();
  const changed = await app.call('PATCH', '/api/v1/issues/ENG-1', { title: 'Two\nlines' });
  expect(changed.json.title).toBe('Two lines');
  const { data: events } = (await app.call('GET', `/api/v1/events?after=${since}`)).json;
  expect(events).toMatchObject([{ type: 'issue.updated', data: { title: 'Two lines' } }]);
  // The same title again changes nothing.
  expect((await app.call('PATCH', '/api/v1/issues/ENG-1', { title: 'Two\nlines' })).json).toEqual(
    changed.json,
  );
});

test('a title without visible characters is refused, and other texts may have several lines', async () => {
  const refused = await app.call('POST', '/api/v1/issues', { team: 'ENG', title: '\u202e\u200b\n' });
  expect([refused.status, refused.json.error.details[0]]).toEqual([
    422,
    expect.objectContaining({ path: 'title' }),
  ]);
  const text = 'Two\nlines \u202e';
  const issue: Json = (await app.call('PATCH', '/api/v1/issues/ENG-1', { description: text })).json;
  expect(issue.description).toBe(text);
  const field = await app.call('POST', '/api/v1/fields', {
    ...{ key: 'about', name: 'About', type: 'text', description: text },
  });
  expect(field.json.description).toBe(text);
});
