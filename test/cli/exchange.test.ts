// `tatami export` and `tatami import` of a workspace: the imported workspace is identical, also after an interruption.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { examineRows } from '../../core/app/doctor/doctor.ts';
import { insertStatements, takeIn } from '../../core/features/export/read.ts';
import { exportedTables } from '../../core/features/tables.ts';
import { openOffline } from '../../core/app/setup/offline.ts';
import { createBlobs } from '../../core/platform/store/files/blobs.ts';
import { seed, type Seeds } from '../api/seeds.ts';
import { startApp, createSystemClock, type Json, type TestApp } from '../app.ts';
import { copyAsKilled } from '../faults/own-copy.ts';
import { tatami, temporary } from './tatami.ts';

const dir = temporary();
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
/** Larger than one chunk of content. */
const upload = new Uint8Array(1_500_000).map((_, at) => at * 7 + (at >> 9));
let app: TestApp;
let seeds: Seeds;
let file: Json;
beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  seeds = await seed(app, app.call, 'ENG', `http://127.0.0.1:${receiver.port}/`);
  const post = async (path: string, body?: object): Promise<Json> =>
    (await app.call('POST', `/api/v1${path}`, body)).json;
  const ana = await post('/members', { name: 'Ana "Ä" Lindqvist', email: 'ana@acme.example' });
  const project = await post('/projects', { name: 'Spring', leadId: ana.id });
  const old = await post('/issues', { team: 'ENG', title: 'Old, and a child of a later issue' });
  for (let n = 0; n < 30; n++)
    await post('/issues', {
      team: 'ENG',
      title: `Issue ${n} \u2028 𝒳`,
      description: 'Long. '.repeat(200),
      estimate: n / 4,
      projectId: project.id,
    });
  const parent = await post('/issues', { team: 'ENG', title: 'Parent', labels: ['bug'] });
  await app.call('PATCH', `/api/v1/issues/${old.id}`, { parentId: parent.id, assigneeId: ana.id });
  const comment = await post(`/issues/${parent.id}/comments`, { body: 'First' });
  await post(`/issues/${parent.id}/comments`, { body: 'Reply', parentId: comment.id });
  await app.call('DELETE', '/api/v1/issues/ENG-3');
  const uploaded = async (name: string, body: Uint8Array<ArrayBuffer>): Promise<Json> => {
    const to = `${app.url}/api/v1/issues/${seeds.issue}/attachments/upload?name=${name}`;
    const headers = { authorization: `Bearer ${app.workspace.apiKey}`, 'content-type': 'image/png' };
    return (await fetch(to, { method: 'POST', headers, body })).json();
  };
  file = await uploaded('shot.png', upload);
  await uploaded('again.png', upload);
  await uploaded('empty.png', new Uint8Array());
  const gone = await uploaded('gone.png', Uint8Array.of(1, 2, 3));
  await app.call('DELETE', `/api/v1/attachments/${gone.id}`);
  const move = { issueId: seeds.issue, column: 'completed' };
  const moved = await app.call('POST', `/api/v1/boards/${seeds.board}/move`, move);
  if (moved.status !== 200) throw new Error(moved.text);
  await app.call('PUT', '/api/v1/inbox/preferences', { subscribed: false });
  await app.call('PUT', '/api/v1/me/preferences', { theme: 'dark' });
  await app.call('POST', '/api/v1/teams', { key: 'OPS', name: 'Ops' });
  await app.call('POST', '/api/v1/issues/ENG-5/move', { team: 'OPS' });
  await app.settled();
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
  dir[Symbol.dispose]();
});

/** Exported once, and copied for each test. */
let created: Promise<string> | undefined;
async function makeDirectory(): Promise<string> {
  const path = dir.path('made');
  const of = ['--data-dir', path, '--workspace', 'Other', '--team', 'OPS', '--json'];
  expect((await tatami(['init', ...of])).code).toBe(0);
  return path;
}
const newDirectory = async (name: string): Promise<string> =>
  copyAsKilled(await (created ??= makeDirectory()), dir.path(name));
const exported = async (dataDir: string, name: string, ...more: string[]) => {
  const file = dir.path(name);
  const done = await tatami(['export', file, '--data-dir', dataDir, '--json', ...more]);
  return { ...done, file };
};
const takenIn = (file: string, dataDir: string) => tatami(['import', file, '--data-dir', dataDir, '--json']);

test('a workspace of a running server is imported into another, which gives the same responses and exports the same file', async () => {
  const first = await exported(app.dataDir, 'first.jsonl');
  expect(first.code).toBe(0);
  const other = await newDirectory('other');
  const { code, json } = await takenIn(first.file, other);
  expect([code, json.workspace]).toEqual([0, { id: app.workspace.workspaceId, name: 'Acme' }]);
  const tables = readFileSync(first.file, 'utf8').matchAll(/^{"table":"(\w+)"/gm);
  const empty = new Set<string>(exportedTables.map(({ name }) => name)).difference(
    new Set([...tables].map(([, name]) => name!)),
  );
  expect([...empty]).toEqual([]);
  const again = await exported(other, 'again.jsonl', '--workspace', 'Acme');
  expect(readFileSync(again.file, 'utf8')).toBe(readFileSync(first.file, 'utf8'));

  const { json: key } = await tatami([
    'keys',
    'create',
    '--data-dir',
    other,
    '--workspace',
    'Acme',
    '--json',
    '--name',
    'moved',
  ]);
  const moved = await startApp(
    { dataDir: other, clock: createSystemClock() },
    { ...app.workspace, apiKey: key.key },
  );
  try {
    const both = async (path: string): Promise<[Json, Json]> => {
      const bare = ({ json }: Json): string =>
        JSON.stringify(json).replaceAll(/"(url|endCursor)":"[^"]*"/g, '');
      return [bare(await moved.call('GET', path)), bare(await app.call('GET', path))];
    };
    for (const path of [
      '/issues?limit=100&deleted=include&sort=number',
      '/issues/ENG-1',
      '/projects',
      '/members',
      '/workflows',
      '/labels',
      '/search?q=Parent',
      '/inbox',
      '/cycles',
      '/views',
      '/releases',
      '/sla-policies',
      '/inbox/preferences',
      '/me/preferences',
      '/favorites',
      `/boards/${seeds.board}/cards`,
      `/issues/${seeds.issue}/attachments`,
      `/issues/${seeds.issue}/relations`,
      `/issues/${seeds.issue}/reactions`,
      '/issues/ENG-5',
    ])
      expect(await both(`/api/v1${path}`)).toSatisfy(([theirs, ours]) => theirs === ours);
    const content = await fetch(`${moved.url}/api/v1/attachments/${file.id}/content`, {
      headers: { authorization: `Bearer ${key.key}` },
    });
    expect(Buffer.from(await content.arrayBuffer()).equals(upload)).toBe(true);
    const events = (await moved.call('GET', '/api/v1/events?limit=100')).json.data;
    const ours = (await app.call('GET', '/api/v1/events?limit=100')).json.data;
    expect(events.slice(0, 40).map(({ id, sequence, type }: Json) => [id, sequence, type])).toEqual(
      ours.slice(0, 40).map(({ id, sequence, type }: Json) => [id, sequence, type]),
    );
    const created = await moved.call('POST', '/api/v1/issues', { team: 'ENG', title: 'After the move' });
    const newest = (await app.call('GET', '/api/v1/issues?team=ENG&sort=-number&limit=1')).json.data[0];
    expect(created.json.identifier).toBe(`ENG-${newest.number + 1}`);
  } finally {
    await moved.stop();
  }
  const looked = await tatami(['doctor', '--data-dir', other, '--json']);
  const wrong = looked.json.checks.flatMap(({ check, findings }: Json) =>
    findings
      .filter(({ level }: Json) => level === 'error')
      .map(({ message }: Json) => `${check}: ${message}`),
  );
  expect(wrong).toEqual([]);
}, 60_000);

/** Runs an import whose process ends while rows are written, before the comments. */
async function interrupted(lines: readonly string[], dataDir: string): Promise<void> {
  insertStatements();
  const { store, close } = openOffline(dataDir, app.url, Date.now);
  const limits = { fileBytesMax: Infinity, workspaceBytesMax: Infinity };
  const blobs = createBlobs({ folder: join(dataDir, 'blobs'), limits, nowMs: Date.now });
  let readings = 0;
  const open = async function* (): AsyncGenerator<string> {
    // The second reading is the check.
    const writes = ++readings === 1;
    for (const line of lines) {
      if (writes && line.includes('"table":"comments"')) throw new Error('killed');
      yield line;
    }
  };
  const taking = { examine: examineRows, blobs, nowMs: Date.now, onRows: () => undefined };
  await expect(takeIn(store, open, taking)).rejects.toThrow('killed');
  await close();
}

test('a truncated file is rejected completely; an interrupted import is resumed; an existing workspace is left unchanged', async () => {
  const { file } = await exported(app.dataDir, 'whole.jsonl');
  const lines = readFileSync(file, 'utf8').split('\n');
  const half = dir.path('half.jsonl');
  writeFileSync(
    half,
    lines
      .slice(
        0,
        lines.findIndex((line) => line.includes('"table":"comments"')),
      )
      .join('\n'),
  );
  const target = await newDirectory('target');
  const cut = await takenIn(half, target);
  expect([cut.code, JSON.stringify(cut.json)]).toMatchObject([
    1,
    expect.stringContaining('it was truncated'),
  ]);
  expect((await exported(target, 'nothing.jsonl', '--workspace', 'Acme')).out).toContain('no workspace Acme');
  await interrupted(lines.slice(0, -1), target);
  const rest = await takenIn(file, target);
  expect(rest.code).toBe(0);
  expect(rest.json.before).toBeGreaterThan(0);
  const again = await exported(target, 'rest.jsonl', '--workspace', 'Acme');
  expect(readFileSync(again.file, 'utf8')).toBe(lines.join('\n'));
  const twice = await takenIn(file, target);
  expect([twice.code, JSON.stringify(twice.json)]).toMatchObject([
    1,
    expect.stringContaining('already exists here'),
  ]);
  const third = await newDirectory('third');
  const isPiece = (line: string): boolean => line.startsWith('{"blob":');
  const piece = lines.findIndex((line) => isPiece(line) && !line.endsWith('"data":""}'));
  const other = lines[piece]!.replace(/"data":"..../, '"data":"AAAA');
  const refusals: [string[], string][] = [
    [lines.with(5, '{"table":"iss'), 'Line 6 is not JSON'],
    [lines.with(piece, other), `The content from line ${piece + 1} on does not have the SHA-256`],
    [[...lines.slice(0, -1), ...lines], `Line ${lines.length} follows the end of the workspace`],
    [lines.filter((line) => !isPiece(line)), 'names content that is not in the file'],
  ];
  for (const [changed, said] of refusals) {
    const broken = dir.path('broken.jsonl');
    writeFileSync(broken, changed.join('\n'));
    expect(JSON.stringify((await takenIn(broken, third)).json)).toContain(said);
  }
}, 60_000);

test('a workspace is piped: `-` is standard output and standard input', async () => {
  const { file } = await exported(app.dataDir, 'piped.jsonl');
  const poured = await tatami(['export', '-', '--data-dir', app.dataDir]);
  expect([poured.code, poured.out]).toEqual([0, readFileSync(file, 'utf8')]);
  expect(poured.err).toMatch(/^stdout: Acme, \d+ rows$/m);
  const target = await newDirectory('piped');
  const taken = await tatami(['import', '-', '--data-dir', target, '--json'], {}, poured.out);
  expect([taken.code, taken.json]).toMatchObject([0, { workspace: { name: 'Acme' } }]);
  const none = await tatami(['import', '-', '--data-dir', target], {}, '');
  expect([none.code, none.err]).toEqual([1, expect.stringContaining('is empty')]);
  const both = await tatami(['export', '-', '--data-dir', app.dataDir, '--json']);
  expect([both.code, both.json.error.message]).toEqual([2, expect.stringContaining('--json')]);
  const lost = await tatami(['export', '-', '--data-dir', app.dataDir, '--workspace', 'Nowhere']);
  expect([lost.code, lost.out]).toEqual([1, '']);
});

test('a directory in use by a server rejects an import, and a missing workspace is reported', async () => {
  const { file } = await exported(app.dataDir, 'held.jsonl');
  const blocked = await takenIn(file, app.dataDir);
  expect([blocked.code, JSON.stringify(blocked.json)]).toMatchObject([
    75,
    expect.stringContaining('Stop the server'),
  ]);
  const none = await exported(app.dataDir, 'none.jsonl', '--workspace', 'Nowhere');
  expect(JSON.stringify(none.json)).toContain('There is no workspace Nowhere');
});
