// `tatami import`: every good row arrives once, whatever happens on the way, and every bad one is named.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { startApp, type Json, type TestApp } from '../app.ts';
import { ended, spawnTatami, tatami, temporary } from './tatami.ts';

/** What the parser refuses is said while it reads ahead. */
const byNumber = (a: string, b: string): number => Number(a.split(/[ :]/)[1]) - Number(b.split(/[ :]/)[1]);

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

test('rows become issues with their texts untouched; the second run adds nothing, not even what was deleted', async () => {
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
  expect([first.code, first.json]).toEqual([
    0,
    { created: 3, skipped: 1, failed: 0, cut: 0, teams: 2, labels: 1 },
  ]);
  const issues = await issuesOf('WEBAPP');
  expect(issues).toMatchObject([
    {
      title: 'Crash on save',
      description: 'First line\n\nThird line with "quotes" and, commas',
      labels: [{ name: 'bug' }],
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

test('bad rows are named by the line they begin at and cost only themselves', async () => {
  const { code, json, err } = await runImport(
    csv(
      header,
      'acme/bad,1,,Good,"two',
      'lines"',
      'acme/bad,2,,',
      'acme/bad,3,,"A "wrong" quote",x',
      'acme/bad,4,,   ,"the title',
      'is blank"\r',
      'acme/123,5,,No key,x',
      'other/bad,6,,Same key,x',
      `acme/bad,7,${'l'.repeat(81)},Label too long,x`,
      `acme/bad,8,,${'long '.repeat(200)},${'é'.repeat(140_000)}`,
      'acme/bad,9,,Good too,x',
      'acme/bad,10,,Open,"never closed',
    ),
  );
  expect([code, json]).toEqual([1, { created: 3, skipped: 0, failed: 7, cut: 1, teams: 1, labels: 0 }]);
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
    expect.stringMatching(/^line 11: title and body .* cut/),
    expect.stringMatching(/^line 13: .*does not end/),
  ]);
  const cut = (await issuesOf('BAD'))[1];
  expect(cut.title).toHaveLength(500);
  expect(Buffer.byteLength(cut.description)).toBeLessThanOrEqual(256 * 1024);
  expect(cut.description).toEndWith('é…');
});

const many = [header, ...Array.from({ length: 200 }, (_, n) => `acme/many,${n},,Row ${n},"body\n${n}"`)];

/** Stands between the command and the server; `answer` may keep or change what the server said. */
function between(answer: (path: string, response: Response, bytes: number) => Response | Promise<Response>) {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = request.method === 'GET' ? null : await request.arrayBuffer();
      const { method, headers } = request;
      // As it came, so that it goes on with the headers it came with.
      const init = { method, headers, body, decompress: false };
      const response = await fetch(app.url + pathname + search, init);
      return answer(pathname, response, body?.byteLength ?? 0);
    },
  });
}

test('an import that is killed is finished by the next one', async () => {
  const before = await app.lastSequence();
  const file = csv(...many);
  let bulks = 0;
  using proxy = between((path, response) => {
    if (path !== '/api/v1/issues/bulk' || ++bulks < 2) return response;
    // The server has taken the second batch; the command never learns of it.
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

test('a batch whose answer is lost is sent again and counted once', async () => {
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
  expect(err).toContain('Trying again');
  expect(await createdEvents(before)).toBe(200);
});

test('requests are packed by bytes', async () => {
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

test('other columns name the team; a missing file or column is said before anything is sent', async () => {
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
