import { afterAll, beforeAll, expect, test } from 'bun:test';
import { systemStatement } from '../../../core/platform/store/statement.ts';
import { systemOp } from '../../../core/platform/store/store.ts';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';

let app: TestApp;
let call: Client;
beforeAll(async () => {
  app = await startApp();
  call = app.call;
});
afterAll(() => app.stop());

async function make(title: string, description = '', as: Client = call, team = 'ENG'): Promise<Json> {
  const { json, status } = await as('POST', '/api/v1/issues', { team, title, description });
  expect(status).toBe(201);
  return json;
}
async function search(q: string, as: Client = call, more = ''): Promise<Json> {
  const reply = await as('GET', `/api/v1/search?q=${encodeURIComponent(q)}${more}`);
  expect(reply.status, reply.text).toBe(200);
  return reply.json;
}
const titles = async (q: string, as?: Client, more?: string): Promise<string[]> =>
  (await search(q, as, more)).data.map((hit: Json) => hit.issue.title);

test('words of title, description and comments are found right after the write, ignoring case and accents', async () => {
  const issue = await make('Crème brûlée burns', 'The KITCHEN catches fire_alarm.');
  expect(await titles('creme BRULEE')).toEqual(['Crème brûlée burns']);
  expect(await titles('kitchen fire')).toEqual(['Crème brûlée burns']);
  await call('POST', `/api/v1/issues/${issue.id}/comments`, { body: 'Bring an extinguisher.' });
  const { data } = await search('extinguisher');
  expect(data).toHaveLength(1);
  expect(data[0].issue.id).toBe(issue.id);
  expect(data[0].issue).not.toHaveProperty('description');
  expect(data[0].highlights).toEqual([
    {
      field: 'comment',
      commentId: expect.stringMatching(/^cmt_/),
      text: 'Bring an extinguisher.',
      ranges: [{ start: 9, end: 21 }],
    },
  ]);
});

test('letters whose spelling changes with case match in each form: ß as ss, and both small sigmas', async () => {
  await make('Die Straße sperren');
  await make('Eine Strasse sperren');
  for (const q of ['strasse', 'STRASSE', 'straße', 'STRAẞE', 'stras*', '"strasse sperren"'])
    expect([q, (await titles(q)).sort()]).toEqual([q, ['Die Straße sperren', 'Eine Strasse sperren']]);
  const { data } = await search('strasse');
  const ranges = data.map((hit: Json) =>
    hit.highlights[0].ranges.map(({ start, end }: Json) => hit.highlights[0].text.slice(start, end)),
  );
  expect(ranges.sort()).toEqual([['Strasse'], ['Straße']]);
  await make('οδοσήμανση');
  for (const q of ['ΟΔΟΣ', 'οδος', 'οδοσ', 'ΟΔΟΣΗΜΑΝΣΗ'])
    expect([q, await titles(q)]).toEqual([q, ['οδοσήμανση']]);
});

test('queries support phrases, prefixes and exclusions', async () => {
  await make('Login page flickers');
  await make('Page login flickers');
  await make('Loganberry jam');
  expect(await titles('"login page"')).toEqual(['Login page flickers']);
  expect((await titles('log*')).sort()).toEqual([
    'Loganberry jam',
    'Login page flickers',
    'Page login flickers',
  ]);
  expect(await titles('loga')).toEqual(['Loganberry jam']);
  expect(await titles('loga ')).toEqual([]);
  expect(await titles('login -"login page"')).toEqual(['Page login flickers']);
  expect(await titles('log* -flickers')).toEqual(['Loganberry jam']);
});

test('scripts without spaces are found by any part of a word', async () => {
  await make('保存ボタンが反応しない');
  expect(await titles('ボタン')).toEqual(['保存ボタンが反応しない']);
  expect(await titles('反応')).toEqual(['保存ボタンが反応しない']);
  expect(await titles('応反')).toEqual([]);
});

test('a word with trailing signs and an emoji are separate words', async () => {
  const signTitles = [
    'Port the C++ parser',
    'Port the C# parser',
    'Port the C parser',
    'Move to c++20',
    'Ünit in C#',
  ];
  for (const title of signTitles) await make(title);
  expect((await titles('c++')).sort()).toEqual(['Move to c++20', 'Port the C++ parser']);
  expect((await titles('C# ')).sort()).toEqual(['Port the C# parser', 'Ünit in C#']);
  expect((await titles('"port the c" parser')).length).toBe(3);
  expect(await titles('"the c++ parser"')).toEqual(['Port the C++ parser']);
  expect(await titles('port -C++ -c#')).toEqual(['Port the C parser']);
  expect((await search('C#')).data.map(({ highlights }: Json) => highlights[0].ranges)).toEqual([
    [{ start: 8, end: 10 }],
    [{ start: 9, end: 11 }],
  ]);
  await make('Ship it 🚀', 'Waved 👍🏽 by 👩‍👧 from 🇩🇪');
  for (const q of ['🚀', '👍', '👩‍👧', '🇩🇪', '"it 🚀"'])
    expect([q, await titles(q)]).toEqual([q, ['Ship it 🚀']]);
  expect((await search('🚀')).data[0].highlights[0].ranges).toEqual([{ start: 8, end: 10 }]);
  expect(await titles('🇫🇷')).toEqual([]);
  // Signs between words are not part of either word.
  await make('login+page a+b issue#12');
  for (const q of ['"a b"', 'issue 12', '"page a b issue"'])
    expect(await titles(q)).toEqual(['login+page a+b issue#12']);
});

test('a title ranks above a description, and an identifier or number ranks first', async () => {
  const inText = await make('Something else entirely', 'It mentions a zeppelin once among other words.');
  const inTitle = await make('Zeppelin');
  expect(await titles('zeppelin')).toEqual(['Zeppelin', 'Something else entirely']);
  await make(`See ${inText.identifier} and zeppelin`);
  const [first] = (await search(inText.identifier.toLowerCase())).data;
  expect(first.issue.id).toBe(inText.id);
  const number = inTitle.identifier.split('-')[1];
  expect((await search(number)).data[0].issue.id).toBe(inTitle.id);
});

test('filters narrow a search as they narrow lists', async () => {
  await make('Quokka one');
  const two = await make('Quokka two');
  await call('PATCH', `/api/v1/issues/${two.id}`, { priority: 'urgent' });
  expect(await titles('quokka', call, '&priority=urgent')).toEqual(['Quokka two']);
  const filter = encodeURIComponent(JSON.stringify({ priority: { neq: 'urgent' } }));
  expect(await titles('quokka', call, `&team=ENG&filter=${filter}`)).toEqual(['Quokka one']);
  expect(await titles(two.identifier, call, `&filter=${filter}`)).not.toContain('Quokka two');
  expect((await call('GET', '/api/v1/search?q=x&team=NOPE')).status).toBe(422);
});

test('edited, deleted, restored and purged texts are found in their current state', async () => {
  const issue = await make('Wombat', 'burrows');
  const { json: comment } = await call('POST', `/api/v1/issues/${issue.id}/comments`, { body: 'marsupial' });
  expect(await titles('wombat')).toEqual(['Wombat']);
  await call('PATCH', `/api/v1/issues/${issue.id}`, { title: 'Numbat' });
  expect(await titles('wombat')).toEqual([]);
  expect(await titles('burrows numbat')).toEqual(['Numbat']);
  await call('DELETE', `/api/v1/issues/${issue.id}`);
  expect(await titles('numbat')).toEqual([]);
  expect(await titles('marsupial')).toEqual([]);
  await call('POST', `/api/v1/issues/${issue.id}/restore`);
  expect(await titles('numbat')).toEqual(['Numbat']);
  expect(await titles('marsupial')).toEqual(['Numbat']);
  await call('PATCH', `/api/v1/comments/${comment.id}`, { body: 'monotreme' });
  expect(await titles('marsupial')).toEqual([]);
  await call('DELETE', `/api/v1/comments/${comment.id}`);
  expect(await titles('monotreme')).toEqual([]);
  await call('DELETE', `/api/v1/issues/${issue.id}`);
  expect((await call('POST', `/api/v1/issues/${issue.id}/purge`)).status).toBe(204);
  expect(await titles('numbat')).toEqual([]);
});

test('pages continue without gaps, and a cursor is valid only for its search', async () => {
  for (let n = 0; n < 7; n++) await make(`Capybara ${'x '.repeat(n)}`);
  const first = await search('capybara', call, '&limit=3');
  expect(first.data).toHaveLength(3);
  expect(first.pageInfo).toMatchObject({ hasNextPage: true, isComplete: true });
  const second = await search('capybara', call, `&limit=3&after=${first.pageInfo.endCursor}`);
  const third = await search('capybara', call, `&limit=3&after=${second.pageInfo.endCursor}`);
  expect(third.pageInfo.hasNextPage).toBe(false);
  const ids = [first, second, third].flatMap(({ data }) => data.map((hit: Json) => hit.issue.id));
  expect(new Set(ids).size).toBe(7);
  expect((await call('GET', `/api/v1/search?q=capibara&after=${first.pageInfo.endCursor}`)).status).toBe(400);
});

test('a cursor does not depend on the order of the parameters', async () => {
  for (let n = 0; n < 3; n++) await make(`Tapir ${n}`);
  const first = await search('tapir', call, '&team=ENG&limit=2');
  const after = first.pageInfo.endCursor;
  const rest = await call('GET', `/api/v1/search?team=ENG&q=tapir&limit=2&after=${after}`);
  expect([rest.status, rest.json.data?.length]).toEqual([200, 1]);
});

test('every input is a search text and never syntax', async () => {
  await make('Plain platypus');
  for (const q of [
    ...[
      '"',
      '""',
      '***',
      '-',
      '--',
      '*',
      '(',
      ')',
      '{title}:',
      'title:platypus',
      'a OR b',
      'NOT',
      'AND AND',
      'NEAR(a b)',
    ],
    ...[
      "'; DROP TABLE issues; --",
      '^platypus',
      'a + b',
      '\\',
      '\u0000',
      '😀',
      '\ud800',
      '"unclosed',
      '-"',
      '%',
      '🇩🇪*',
    ],
    ...['\u0301', 'ﬁ', '½', 'İ', '\u200b\u200b', 'x'.repeat(500)],
  ]) {
    const { status } = await call('GET', `/api/v1/search?q=${encodeURIComponent(q.toWellFormed())}`);
    expect([200, 422], JSON.stringify(q)).toContain(status);
  }
  expect(await titles('title:platypus')).toEqual([]);
  expect(await titles('platypus OR nothing')).toEqual([]);
  expect((await call('GET', '/api/v1/search?q=-platypus')).json.error.details[0]).toMatchObject({
    path: 'q',
  });
  expect((await call('GET', '/api/v1/search?q=')).status).toBe(422);
  expect((await call('GET', `/api/v1/search?q=${'a+'.repeat(40)}`)).status).toBe(422);
});

test('highlights are ranges of the original text, with any characters', async () => {
  await make('<b>Ocelot</b> & "ocelot"', `${'filler '.repeat(1_000)}then <script>ocelot</script>`);
  const { data } = await search('ocelot');
  expect(data[0].highlights[0]).toEqual({
    ...{ field: 'title', commentId: null, text: '<b>Ocelot</b> & "ocelot"' },
    ranges: [
      { start: 3, end: 9 },
      { start: 17, end: 23 },
    ],
  });
  const [, { text, ranges }] = data[0].highlights;
  expect(text.length).toBeLessThanOrEqual(240);
  expect(text.slice(ranges[0].start, ranges[0].end)).toBe('ocelot');
});

test('an unfiltered search ranks like one filtered to all issues', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 6; n++)
    ids.push((await make(n % 2 ? `Dugong ${'dugong '.repeat(n)}` : `Herd ${n}`, 'dugong')).id);
  for (const id of ids.slice(0, 3))
    await call('POST', `/api/v1/issues/${id}/comments`, { body: `A dugong, ${id}.` });
  const all = await search('dugong', call, '&limit=4');
  expect(all.data).toHaveLength(4);
  expect((await search('dugong', call, '&limit=4&team=ENG')).data).toEqual(all.data);
});

test('comments are searched only with permission to read them', async () => {
  const issue = await make('Lemming');
  await call('POST', `/api/v1/issues/${issue.id}/comments`, { body: 'precipice' });
  const reader = app.clientOf(await app.mintKey(['issues:read']));
  expect(await titles('lemming', reader)).toEqual(['Lemming']);
  expect(await titles('precipice', reader)).toEqual([]);
  expect(await titles('precipice')).toEqual(['Lemming']);
  const blind = app.clientOf(await app.mintKey(['comments:read']));
  expect((await blind('GET', '/api/v1/search?q=lemming')).status).toBe(403);
});

test('results, counts and ranks do not depend on other workspaces', async () => {
  const other = await app.addWorkspace('Other', 'OTH');
  const theirs = app.clientOf(other.apiKey);
  const before = [
    await make('Gnu alpha', 'beta', theirs, 'OTH'),
    await make('Beta', 'gnu alpha alpha', theirs, 'OTH'),
  ];
  const order = (await search('gnu', theirs)).data.map((hit: Json) => hit.issue.id);
  for (let n = 0; n < 30; n++) await make(`Gnu gnu ${n}`, 'secret alpha beta');
  expect((await search('gnu', theirs)).data.map((hit: Json) => hit.issue.id)).toEqual(order);
  expect(order.sort()).toEqual(before.map(({ id }) => id).sort());
  for (const q of ['secret', 'sec*', 'gnu -alpha', '"gnu gnu"', 'ENG-1'])
    expect(await titles(q, theirs)).toEqual([]);
  const mark = app.workspace.workspaceId.slice(-10);
  expect(await titles(`${mark}gnu`, theirs)).toEqual([]);
});

test('texts written while the indexer was off are indexed in the background', async () => {
  await make('Axolotl');
  app.clock.advance(1_000);
  await app.settled();
  expect(await titles('axolotl')).toEqual(['Axolotl']);
});

test('searches and concurrent writes agree in the end', async () => {
  const issue = await make('Pangolin zero');
  await Promise.all(
    Array.from({ length: 12 }, async (_, n) => {
      if (n % 3 === 0) await call('PATCH', `/api/v1/issues/${issue.id}`, { title: `Pangolin ${n}` });
      else await search('pangolin');
    }),
  );
  const { json } = await call('GET', `/api/v1/issues/${issue.id}`);
  expect(await titles('pangolin')).toEqual([json.title]);
});

test('very frequent words rank the latest issues, and rare words and filtered searches find issues of any age', async () => {
  const old = await make('Okapi okapi okapi', 'quetzal');
  await call('PATCH', `/api/v1/issues/${old.id}`, { priority: 'urgent' });
  await search('okapi');
  for (let n = 0; n < 31; n++) {
    const issues = Array.from({ length: 100 }, () => ({
      team: 'ENG',
      title: `Herd ${n}`,
      description: 'okapi',
    }));
    expect((await call('POST', '/api/v1/issues/bulk', { issues })).status).toBe(201);
  }
  while (!(await search('okapi', call, '&limit=1')).pageInfo.isComplete);
  expect(await titles('okapi ')).not.toContain(old.title);
  expect(await titles('okapi quetzal ')).toEqual([old.title]);
  expect(await titles('okapi ', call, '&priority=urgent')).toEqual([old.title]);
});

const inAll = 'a test counts and clears the index of the whole installation';
const indexedTexts = systemStatement<{ documents: number; words: number; misplaced: number }>(
  'test.indexed_texts',
  inAll,
  `SELECT (SELECT count(*) FROM search_documents) AS documents, (SELECT count(*) FROM search_index_docsize) AS words,
    (SELECT count(*) FROM search_documents AS d JOIN issues AS i
     WHERE i.workspace_id = d.workspace_id AND i.id = d.issue_id AND i.team_id <> d.team_id) AS misplaced`,
);
const clearing = [
  "INSERT INTO search_index (search_index) VALUES ('delete-all')",
  'DELETE FROM search_documents',
  "DELETE FROM cursors WHERE consumer = 'projection search'",
].map((sql, index) => systemStatement(`test.clear_index_${index}`, inAll, sql));

test('a burst of changes leaves each text in the index once, also after a rebuild from the log', async () => {
  const count = async () => (await app.services.store.readSystem(indexedTexts))[0]!;
  await search('anything');
  const { documents: before } = await count();
  const [one, two, gone] = [await make('Bongo one'), await make('Bongo two'), await make('Bongo gone')];
  const say = async (issue: Json, body: string): Promise<Json> =>
    (await call('POST', `/api/v1/issues/${issue.id}/comments`, { body })).json;
  await say(one, 'snout');
  const second = await say(one, 'hooves');
  await say(gone, 'vanishes');
  await call('PATCH', `/api/v1/comments/${second.id}`, { body: 'toes' });
  await call('DELETE', `/api/v1/issues/${one.id}`);
  await call('POST', `/api/v1/issues/${one.id}/restore`);
  await say(one, 'afterwards');
  await call('PATCH', `/api/v1/issues/${two.id}`, { title: 'Bongo second' });
  await call('PATCH', `/api/v1/issues/${two.id}`, { description: 'nocturnal' });
  await call('DELETE', `/api/v1/issues/${gone.id}`);
  expect((await call('POST', `/api/v1/issues/${gone.id}/purge`)).status).toBe(204);
  await say(two, 'before the move');
  await search('anything');
  await call('POST', '/api/v1/teams', { key: 'BNG', name: 'Bongos' });
  expect((await call('POST', `/api/v1/issues/${two.id}/move`, { team: 'BNG' })).status).toBe(200);
  await say(two, 'after the move');
  const hits = { snout: 1, hooves: 0, toes: 1, afterwards: 1, '"bongo second" nocturnal': 1, vanishes: 0 };
  for (const round of ['at once', 'rebuilt']) {
    const found = Object.keys(hits).map(async (q) => [q, (await titles(q)).length]);
    expect([round, Object.fromEntries(await Promise.all(found))]).toEqual([round, hits]);
    expect((await titles('bongo')).sort()).toEqual(['Bongo one', 'Bongo second']);
    // Two issues and five comments.
    expect(await count()).toEqual({ documents: before + 7, words: before + 7, misplaced: 0 });
    await app.settled();
    await app.services.store.commit(clearing.map((statement) => systemOp(statement, {})));
    app = await app.restart();
    ({ call } = app);
    await app.settled();
  }
});
