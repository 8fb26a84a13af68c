// Files in both directions, the stream of events, and `tatami api` for any path.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { programCommand } from '../../program.ts';
import { collect, spawnTatami, tatami, temporary, type CliResult } from '../tatami.ts';

let app: TestApp;
const dir = temporary();
beforeAll(async () => {
  app = await startApp();
  for (const title of ['First', 'Second'])
    await app.call('POST', '/api/v1/issues', { team: 'ENG', title, priority: 'low' });
});
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

const env = (): Record<string, string> => ({ TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey });
const run = (args: readonly string[], input?: string): Promise<CliResult> => tatami(args, env(), input);
const rest = async (path: string): Promise<Json> => (await app.call('GET', `/api/v1${path}`)).json;

/** A file in which every byte occurs. */
const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256);

describe('files', () => {
  test('a file is uploaded with its name and type, and downloaded with the same bytes', async () => {
    writeFileSync(dir.path('screenshot.png'), bytes);
    const { code, json } = await run([
      'attachments',
      'upload',
      'ENG-1',
      dir.path('screenshot.png'),
      '--json',
    ]);
    expect([code, json]).toMatchObject([
      0,
      { title: 'screenshot.png', contentType: 'image/png', bytes: 70_000 },
    ]);
    expect(await rest(`/attachments/${json.id}`)).toEqual(json);
    const content = ['attachments', 'content', json.id];
    const out = dir.path('copy.png');
    expect((await run([...content, '--out', out, '--json'])).json).toEqual({ file: out });
    expect(readFileSync(out)).toEqual(Buffer.from(bytes));
    const child = spawnTatami(content, env());
    expect(Buffer.from(await new Response(child.stdout).arrayBuffer())).toEqual(Buffer.from(bytes));
    expect(await child.exited).toBe(0);
  });

  test('a download replaces a file only with --force, and never follows a link', async () => {
    writeFileSync(dir.path('crash.log'), 'Segmentation fault\n');
    const { id } = (
      await run(['attachments', 'upload', 'ENG-1', dir.path('crash.log'), '--name', 'c.log', '--json'])
    ).json;
    const download = (name: string, ...more: string[]): Promise<CliResult> =>
      run(['attachments', 'content', id, '--out', dir.path(name), ...more]);
    writeFileSync(dir.path('mine.txt'), 'mine');
    const refused = await download('mine.txt');
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('--force')]);
    expect(readFileSync(dir.path('mine.txt'), 'utf8')).toBe('mine');
    expect((await download('mine.txt', '--force')).code).toBe(0);
    expect(readFileSync(dir.path('mine.txt'), 'utf8')).toBe('Segmentation fault\n');
    symlinkSync(dir.path('mine.txt'), dir.path('link'));
    const linked = await download('link', '--force');
    expect([linked.code, linked.err]).toEqual([1, expect.stringContaining('symbolic link')]);
    expect((await rest(`/attachments/${id}`)).title).toBe('c.log');
  });

  test('an upload with the key of an earlier attempt takes effect once', async () => {
    writeFileSync(dir.path('once.txt'), 'once');
    const upload = [
      'attachments',
      'upload',
      'ENG-2',
      dir.path('once.txt'),
      '--idempotency-key',
      'once',
      '--json',
    ];
    const [first, again] = [await run(upload), await run(upload)];
    expect([first.code, again.json]).toEqual([0, first.json]);
    expect((await rest('/issues/ENG-2/attachments')).data).toHaveLength(1);
  });

  test('a missing file, and a missing attachment, are named', async () => {
    const file = await run(['attachments', 'upload', 'ENG-1', dir.path('none'), '--json']);
    expect([file.code, file.json.error.message]).toEqual([2, expect.stringContaining(dir.path('none'))]);
    const missing = `att_${'0'.repeat(26)}`;
    const none = await run(['attachments', 'content', missing, '--out', dir.path('new'), '--json']);
    expect([none.code, none.json.error.message]).toEqual([
      1,
      expect.stringContaining(`There is no attachment ${missing}.`),
    ]);
    expect(await Bun.file(dir.path('new')).exists()).toBe(false);
  });
});

test('a command whose output is not read to its end ends quietly, as at SIGPIPE', async () => {
  // More than a pipe holds.
  const description = 'Steps\n'.repeat(30_000);
  await app.call('PATCH', '/api/v1/issues/ENG-2', { description });
  const script = 'set -o pipefail; "$@" | head -c 1';
  const child = Bun.spawn(['bash', '-c', script, 'bash', ...programCommand(['issues', 'show', 'ENG-2'])], {
    env: { ...process.env, ...env() },
    stderr: 'pipe',
    stdout: 'ignore',
  });
  const err = await new Response(child.stderr).text();
  expect([await child.exited, err]).toEqual([141, `Using the server ${app.url}, from TATAMI_SERVER.\n`]);
});

test('the stream prints each event of its types as one line of JSON', async () => {
  const after = String(await app.lastSequence());
  const child = spawnTatami(['events', 'stream', '--json', '--types', 'label.*', '--after', after], env());
  const output = collect(child.stdout);
  for (const name of ['one', 'two']) await app.call('POST', '/api/v1/labels', { name });
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Not a label' });
  await app.call('POST', '/api/v1/labels', { name: 'three' });
  await output.until((text) => text.split('\n').length > 3);
  child.kill('SIGINT');
  expect(await child.exited).toBe(130);
  const lines = output
    .text()
    .split('\n')
    .filter((line) => line.startsWith('{"id"'));
  const { data } = await rest(`/events?after=${after}&types=label.*`);
  expect(lines.map((line) => JSON.parse(line))).toEqual(data);
  expect(data).toHaveLength(3);
  const later = spawnTatami(['events', 'stream', '--after', data[1].id], env());
  const said = collect(later.stdout);
  await said.until((text) => text.split('\n').length > 2);
  later.kill('SIGINT');
  await later.exited;
  const types = said
    .text()
    .split('\n')
    .map((line) => line.split('  ')[1]);
  expect(types.slice(0, 2)).toEqual(['issue.created', 'label.created']);
});

describe('api', () => {
  const api = (...args: string[]): Promise<CliResult> => run(['api', ...args, '--json']);

  test('a read takes its query as fields or in the path', async () => {
    const wanted = await rest('/issues?team=ENG&priority=low&limit=1');
    expect((await api('GET', '/issues', 'team=ENG', 'priority=low', 'limit=1')).json).toEqual(wanted);
    expect((await api('get', 'issues?team=ENG', 'priority=low', 'limit=1')).json).toEqual(wanted);
    expect((await api('GET', '/api/v1/issues?team=ENG&priority=low&limit=1')).json).toEqual(wanted);
    const shown = await run(['api', 'GET', '/issues/ENG-1']);
    expect(JSON.parse(shown.out)).toEqual(await rest('/issues/ENG-1'));
  });

  test('--all reads all pages of a list', async () => {
    await app.call('POST', '/api/v1/teams', { key: 'ALL' });
    const issues = Array.from({ length: 100 }, (_, index) => ({ team: 'ALL', title: `Issue ${index}` }));
    await app.call('POST', '/api/v1/issues/bulk', { issues });
    await app.call('POST', '/api/v1/issues', { team: 'ALL', title: 'Last' });
    expect((await api('GET', '/issues', 'team=ALL', '--all')).json).toHaveLength(101);
    expect((await api('GET', '/issues?team=ALL', '--all')).json).toHaveLength(101);
  });

  test('a write takes its body as fields, nested by points, from a file and from standard input', async () => {
    const { json } = await api(
      'POST',
      '/issues',
      'team=ENG',
      'title=By a path',
      'labels=["bug"]',
      'estimate=3',
    );
    expect(json).toMatchObject(await rest(`/issues/${json.id}?fields=id,title,identifier`));
    expect(await rest(`/issues/${json.id}`)).toMatchObject({
      title: 'By a path',
      labels: [{ name: 'bug' }],
      estimate: 3,
    });
    const bulk = await api(
      'POST',
      '/issues/bulk-update',
      `ids=["${json.id}"]`,
      'set.priority=high',
      'set.title=Nested',
    );
    expect(bulk.code).toBe(0);
    expect(await rest(`/issues/${json.id}`)).toMatchObject({ title: 'Nested', priority: 'high' });
    writeFileSync(dir.path('body.json'), '{"title":"From a file","priority":"low"}');
    writeFileSync(dir.path('notes.md'), 'Notes');
    const input = ['--input', dir.path('body.json')];
    await api(
      'PATCH',
      `/issues/${json.id}`,
      ...input,
      'priority=urgent',
      `description=@${dir.path('notes.md')}`,
    );
    expect(await rest(`/issues/${json.id}`)).toMatchObject({
      title: 'From a file',
      priority: 'urgent',
      description: 'Notes',
    });
    const args = ['api', 'PATCH', `/issues/${json.id}`, '--input', '-', '--json'];
    expect((await run(args, '{"title":"From standard input"}')).json.title).toBe('From standard input');
  });

  test('a write is tried with --dry-run, takes effect once per key, and may have no content', async () => {
    const since = await app.lastSequence();
    const create = ['POST', '/labels', 'name=keyed'];
    expect((await api(...create, '--dry-run')).json.name).toBe('keyed');
    expect(await app.eventTypes(since)).toEqual([]);
    const [first, again] = [
      await api(...create, '--idempotency-key', 'k'),
      await api(...create, '--idempotency-key', 'k'),
    ];
    expect([first.code, again.json]).toEqual([0, first.json]);
    const deleted = await api('DELETE', `/labels/${first.json.id}`);
    expect([deleted.code, deleted.json]).toEqual([0, null]);
    expect(await app.eventTypes(since)).toEqual(['label.created', 'label.deleted']);
  });

  const wrong: [string[], number, string][] = [
    [['FETCH', '/issues'], 2, 'The method must be one of GET, POST, PUT, PATCH, DELETE, not "FETCH".'],
    [['PATHC', '/issues'], 2, 'Did you mean PATCH?'],
    [['POST', '/issues', '--all'], 2, '--all needs the method GET.'],
    [['POST', '/issues', 'title'], 2, 'A field must be name=value, not "title".'],
    [['POST', '/issues', 'set=1', 'set.priority=high'], 2, 'set.priority=high sets a part of set'],
    [['POST', '/issues', '--input', `${import.meta.path}`], 2, '--input is not JSON'],
    [['POST', '/issues', '--input', dir.path('list.json')], 2, '--input must be a JSON object.'],
    [['POST', '/issues', 'set={}', 'set.__proto__.priority=high'], 2, '__proto__'],
    [['POST', '/issues', '--input', '/nonexistent/body.json'], 1, '/nonexistent/body.json'],
    [['POST', '/issues', 'team=ENG', 'title=x', 'priority=hgih'], 2, 'priority: '],
    [['GET', '/issues/ENG-999'], 1, ''],
    [['GET', '/nowhere'], 1, ''],
  ];
  beforeAll(() => writeFileSync(dir.path('list.json'), '[{"title":"In a list"}]'));
  test.each(wrong)('`%p` fails with exit %i', async (args, exitCode, said) => {
    const since = await app.lastSequence();
    const { code, json } = await api(...args);
    expect([code, json]).toEqual([
      exitCode,
      { error: { code: expect.any(String), message: expect.stringContaining(said) } },
    ]);
    expect(await app.eventTypes(since)).toEqual([]);
  });
});
