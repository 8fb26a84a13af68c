// `tatami import`: every valid row is imported exactly once, despite failures, and every invalid row is reported.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { startApp, type Json, type TestApp } from '../app.ts';
import { ended, spawnTatami, tatami, temporary } from './tatami.ts';

/** Sorts by line number, because the parser reports its errors while it reads ahead. */
const byNumber = (a: string, b: string): number => Number(a.split(/[ :]/)[1]) - Number(b.split(/[ :]/)[1]);

/** Report of an import without changes. */
const nothing = {
  ...{
    created: 0,
    skipped: 0,
    failed: 0,
    cut: 0,
    undated: 0,
    renumbered: 0,
    teams: 0,
    labels: 0,
    projects: 0,
  },
  ...{ milestones: 0, cycles: 0, parents: 0, relations: 0, comments: 0, left: {} },
};
const header = 'repo,created_at,label,title,body';
const dir = temporary();
let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

function csv(...lines: string[]): string {
  const file = dir.path('issues.csv');
  writeFileSync(file, lines.join('\n'));
  return file;
}

const runImport = (file: string, server = app.url, ...more: string[]) =>
  tatami(['import', file, '--server', server, '--token', app.workspace.apiKey, '--json', ...more]);

const issuesOf = async (team: string): Promise<Json[]> =>
  (await app.call('GET', `/api/v1/issues?limit=100&sort=createdAt&team=${team}`)).json.data;

const createdEvents = async (after: number): Promise<number> =>
  (await app.eventTypes(after)).filter((type) => type === 'issue.created').length;

test('rows become issues with unmodified texts; the second run adds nothing, not even deleted issues', async () => {
  const file = csv(
    header,
    'acme/web-app,2026-01-01,bug,Crash on save,"First line',
    '',
    'Third line with ""quotes"" and, commas"',
    'acme/web-app,2026-01-02,,No label,body',
    'acme/web-app,2026-01-02,,No label,the same row again',
    'acme/api,2026-01-03,Needs Design,Ein Gerät – 日本,',
  );
  const first = await runImport(file);
  expect([first.code, first.json]).toEqual([0, { ...nothing, created: 3, skipped: 1, teams: 2, labels: 1 }]);
  const issues = await issuesOf('WEBAPP');
  expect(issues).toMatchObject([
    {
      title: 'Crash on save',
      description: 'First line\n\nThird line with "quotes" and, commas',
      labels: [{ name: 'bug' }],
      createdAt: '2026-01-01T00:00:00.000Z',
      externalSource: 'csv',
    },
    { title: 'No label', description: 'body', labels: [] },
  ]);
  expect(await issuesOf('API')).toMatchObject([
    { title: 'Ein Gerät – 日本', labels: [{ name: 'Needs Design' }] },
  ]);

  expect((await app.call('DELETE', `/api/v1/issues/${issues[0].id}`)).status).toBe(204);
  const before = await app.lastSequence();
  const second = await runImport(file);
  expect([second.code, second.json]).toMatchObject([0, { created: 0, skipped: 4, teams: 0, labels: 0 }]);
  expect(await app.eventTypes(before)).toEqual([]);
});

test('the name of a team or label matches regardless of Unicode composition', async () => {
  const [composed, apart] = ['caf\u00e9/bar', 'cafe\u0301/bar'];
  const label = ['\u00e9clat', 'e\u0301clat'];
  const file = csv(header, `${composed},2026-01-01,${label[0]},One,`, `${apart},2026-01-02,${label[1]},Two,`);
  const { code, json } = await runImport(file);
  expect([code, json]).toMatchObject([0, { created: 2, failed: 0, teams: 1, labels: 1 }]);
});

test('invalid rows are reported by their first line, and valid rows are imported', async () => {
  const { code, json, err } = await runImport(
    csv(
      header,
      'acme/bad,2026-01-01,,Good,"two',
      'lines"',
      'acme/bad,2026-01-02,,',
      'acme/bad,2026-01-03,,"A "wrong" quote",x',
      'acme/bad,2026-01-04,,   ,"the title',
      'is blank"\r',
      'acme/123,2026-01-05,,No key,x',
      'other/bad,2026-01-06,,Same key,x',
      `acme/bad,2026-01-07,${'l'.repeat(81)},Label too long,x`,
      `acme/bad,2026-01-08,,${'long '.repeat(200)},${'é'.repeat(140_000)}`,
      'acme/bad,2026-01-09,,Good too,x',
      'acme/bad,2026-01-10,,Open,"never closed',
    ),
  );
  expect([code, json]).toEqual([1, { ...nothing, created: 3, failed: 7, cut: 1, teams: 1 }]);
  const lines = err
    .split('\n')
    .filter((line) => line.startsWith('line '))
    .sort(byNumber);
  expect(lines).toEqual([
    expect.stringMatching(/^line 4: .*columns/),
    expect.stringMatching(/^line 5: .*quote/),
    expect.stringMatching(/^line 6: the title is empty/),
    expect.stringMatching(/^line 8: .*"acme\/123"/),
    expect.stringMatching(/^line 9: .*BAD.*"acme\/bad"/),
    expect.stringMatching(/^line 10: the label/),
    expect.stringMatching(/^line 11: title and body shortened/),
    expect.stringMatching(/^line 13: .*does not end/),
  ]);
  const cut = (await issuesOf('BAD'))[1];
  expect(cut.title).toHaveLength(500);
  expect(Buffer.byteLength(cut.description)).toBeLessThanOrEqual(256 * 1024);
  expect(cut.description).toEndWith('é…');
});

test('times are imported in every format; an invalid time, and a key that may not set times, are reported', async () => {
  const times = [
    ['2019-05-01T10:00:00+02:00', '2019-05-01T08:00:00.000Z'],
    ['2019-05-01 10:00:00 UTC', '2019-05-01T10:00:00.000Z'],
    ['2019-05-01 10:00:00.123+0200', '2019-05-01T08:00:00.123Z'],
    ['2019-05-01 10:00', '2019-05-01T10:00:00.000Z'],
    ['2019-05-01', '2019-05-01T00:00:00.000Z'],
  ] as const;
  const rows = times.map(([written], n) => `acme/times,${written},,Row ${n},`);
  const more = ['acme/times,05/01/2019,,None,', 'acme/times,,,Empty,', 'acme/times,2219-01-01,,To come,'];
  const first = await runImport(csv(header, ...rows, ...more));
  expect([first.code, first.json]).toMatchObject([0, { created: 8, undated: 3 }]);
  for (const message of [
    'line 7: created_at "05/01/2019" is not a past time',
    'line 8: created_at is empty',
    'line 9: created_at "2219-01-01"',
  ])
    expect(first.err).toContain(message);
  const issues = await issuesOf('TIMES');
  const createdAt = new Map(issues.map(({ title, createdAt: at }) => [title, at]));
  for (const [n, [, expected]] of times.entries())
    expect([n, createdAt.get(`Row ${n}`)]).toEqual([n, expected]);
  for (const title of ['None', 'Empty', 'To come'])
    expect(Date.parse(createdAt.get(title))).toBe(app.clock.nowMs());

  const token = await app.mintKey(['issues:write', 'teams:write', 'labels:write']);
  const file = csv(
    ...many.slice(0, 151).map((line) => line.replace(/acme\/many,\d+/, 'acme/untimed,2019-05-01')),
  );
  const second = await tatami(['import', file, '--server', app.url, '--token', token, '--json']);
  expect([second.code, second.json]).toMatchObject([0, { created: 150, failed: 0 }]);
  expect(second.err.match(/scope import:write/g)).toHaveLength(1);
  for (const { createdAt: at } of await issuesOf('UNTIMED')) expect(at > '2026').toBe(true);
});

test('a missing, empty or non-UTF-8 file is reported in one line, and nothing is sent', async () => {
  const before = await app.lastSequence();
  const text = `${header}\nacme/enc,2026-01-01,,"Gerät\nzwei",x\nacme/enc,2026-01-02,,日本 é,x\n`;
  const file = (bytes: Uint8Array | string): string => {
    writeFileSync(dir.path('issues.csv'), bytes);
    return dir.path('issues.csv');
  };
  const refused = async (path: string, why: RegExp): Promise<void> => {
    const { code, json, err } = await runImport(path);
    expect([code, json.error.message]).toEqual([1, expect.stringMatching(why)]);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  };
  const utf16 = Buffer.from(text, 'utf16le');
  await refused(file(utf16), /issues\.csv is UTF-16, not UTF-8\. Convert it: iconv -f UTF-16/);
  await refused(file(Buffer.concat([Buffer.from([0xff, 0xfe]), utf16])), /UTF-16/);
  await refused(file(Buffer.from(utf16).swap16()), /UTF-16/);
  const latin = Buffer.from(text.replace('日本', 'zwei'), 'latin1');
  await refused(
    file(latin),
    /not UTF-8: line 2, byte 26 is 0xE4\. .*iconv -f WINDOWS-1252 -t UTF-8 issues\.csv > utf8-issues\.csv/,
  );
  const long = Buffer.concat([Buffer.from(text.repeat(30_000)), latin.subarray(header.length + 1)]);
  await refused(file(long), /line 120001, byte 26 is 0xE4/);
  await refused(file(''), /is empty/);
  await refused(
    dir.path('isues.csv'),
    /isues\.csv does not exist or is not a file\. Did you mean .*issues\.csv\?/,
  );
  await refused(dir.path('.'), /is a directory/);
  expect(await app.eventTypes(before)).toEqual([]);

  const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]);
  expect((await runImport(file(marked))).json).toMatchObject({ created: 2, failed: 0 });
});

const many = [header, ...Array.from({ length: 200 }, (_, n) => `acme/many,${n},,Row ${n},"body\n${n}"`)];

/** Proxy between the command and the server; `answer` may drop or change a response. */
function between(answer: (path: string, response: Response, bytes: number) => Response | Promise<Response>) {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = request.method === 'GET' ? null : await request.arrayBuffer();
      const { method, headers } = request;
      // Unmodified, so that the body matches its headers.
      const init = { method, headers, body, decompress: false };
      const response = await fetch(app.url + pathname + search, init);
      return answer(pathname, response, body?.byteLength ?? 0);
    },
  });
}

test('a killed import is completed by the next one', async () => {
  const before = await app.lastSequence();
  const file = csv(...many);
  let bulks = 0;
  using proxy = between((path, response) => {
    if (path !== '/api/v1/issues/bulk' || ++bulks < 2) return response;
    // The server has stored the second batch, but the command never receives the response.
    child.kill('SIGKILL');
    return new Promise(() => {});
  });
  const remote = ['--server', proxy.url.origin, '--token', app.workspace.apiKey];
  const child = spawnTatami(['import', file, ...remote]);
  expect((await ended(child)).code).toBe(137);
  expect(await createdEvents(before)).toBe(180);

  const { code, json } = await runImport(file);
  expect([code, json]).toMatchObject([0, { created: 20, skipped: 180 }]);
  expect(await createdEvents(before)).toBe(200);
});

test('a batch whose response is lost is sent again and counted once', async () => {
  const before = await app.lastSequence();
  const file = csv(...many.map((line) => line.replace('acme/many', 'acme/lost')));
  let lost = false;
  using proxy = between((path, response) => {
    if (path !== '/api/v1/issues/bulk' || lost) return response;
    lost = true;
    return new Response('', { status: 503, headers: { 'retry-after': '0' } });
  });
  const { code, json, err } = await runImport(file, proxy.url.origin);
  expect([code, json]).toMatchObject([0, { created: 200, skipped: 0 }]);
  expect(err).toContain('Retrying');
  expect(await createdEvents(before)).toBe(200);
});

test('an aborted import asks to be run again only if that helps', async () => {
  const unclosed = csv(header, `acme/open,1,,Title,"${'x'.repeat(9 * 1024 * 1024)}`);
  const fatal = await runImport(unclosed);
  expect([fatal.code, fatal.json.error.message]).toEqual([1, expect.stringContaining('does not end')]);
  const file = csv(...many.map((line) => line.replace('acme/many', 'acme/stopped')));
  const wrongKey = await tatami(['import', file, '--server', app.url, '--token', 'ttm_none', '--json']);
  expect(wrongKey.code).toBe(4);
  const lacking = await runImport(csv('repo,title', 'acme/x,Title'));
  expect(lacking.code).toBe(1);
  for (const { err } of [fatal, wrongKey, lacking]) expect(err).not.toMatch(/Stopped|again/);

  let batches = 0;
  using proxy = between((path, response) =>
    path === '/api/v1/issues/bulk' && ++batches > 1
      ? Response.json({ error: { code: 'unauthorized', message: 'The key was revoked.' } }, { status: 401 })
      : response,
  );
  const revoked = await runImport(
    csv(...many.map((line) => line.replace('acme/many', 'acme/stopped'))),
    proxy.url.origin,
  );
  expect([revoked.code, revoked.err]).toEqual([
    4,
    expect.stringMatching(/Stopped after \d+ created, .* Run the import again to continue/),
  ]);
});

test('a file may omit optional columns', async () => {
  const { code, json } = await runImport(csv('repo,created_at,title', 'acme/few,2026-01-01,Title'));
  expect([code, json]).toEqual([0, { ...nothing, created: 1, teams: 1 }]);
});

test('requests are limited by bytes', async () => {
  const body = 'x'.repeat(200_000);
  const file = csv(header, ...Array.from({ length: 12 }, (_, n) => `acme/large,${n},,Row ${n},${body}`));
  const sizes: number[] = [];
  using proxy = between((path, response, bytes) => {
    if (path === '/api/v1/issues/bulk') sizes.push(bytes);
    return response;
  });
  expect((await runImport(file, proxy.url.origin)).json).toMatchObject({ created: 12 });
  expect(sizes).toHaveLength(3);
  expect(Math.max(...sizes)).toBeLessThan(1_000_000);
});

test('other columns can name the team; a missing file or column is reported before anything is sent', async () => {
  const before = await app.lastSequence();
  const file = csv(`${header},squad`, 'acme/x,1,,Title,body,Blue 7');
  const missing = await runImport(file, app.url, '--team-from', 'crew');
  expect([missing.code, missing.json.error.message]).toEqual([1, expect.stringContaining('squad')]);
  expect((await runImport(dir.path('none.csv'))).code).toBe(1);
  expect(await app.eventTypes(before)).toEqual([]);
  const { json } = await runImport(file, app.url, '--team-from', 'squad', '--source', 'old-tracker');
  expect(json).toMatchObject({ created: 1, teams: 1 });
  expect(await issuesOf('BLUE7')).toMatchObject([{ externalSource: 'old-tracker' }]);
});
