// Limits and privacy of the public `POST /triage`, which needs no key.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createClient } from '../../../sdk/client/index.ts';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { rowsOf } from '../../api/rows.ts';

let app: TestApp;
let stranger: Client;
beforeAll(async () => {
  app = await startApp();
  stranger = app.clientOf(null);
});
afterAll(() => app.stop());

const ask = (issues: readonly object[], more: object = {}, as = stranger) =>
  as('POST', '/api/v1/triage', { issues, ...more });

const crash = {
  title: 'App crashes with a TypeError when I save a file',
  description:
    'Steps to reproduce:\n1. open\n2. save\n\n```\nTypeError: x is undefined\n    at save (app.js:12)\n```\nExpected: no crash. Version 1.2.3.',
};
const wish = {
  title: 'Add support for dark mode',
  description: 'It would be great to have an option for a dark theme.',
};
const question = {
  title: 'How do I change the port?',
  description: 'I could not find it in the docs, where is it? Thanks!',
};

test('each issue gets its type, priority and labels, with confidence and evidence, in the order of the request', async () => {
  const { status, json } = await ask([crash, wish, question]);
  expect(status).toBe(200);
  expect(json.data.map(({ kind }: Json) => kind)).toEqual(['bug', 'feature', 'question']);
  expect(json.data.map(({ labels }: Json) => labels)).toEqual([['bug'], ['feature'], ['question']]);
  expect(json.data[0]).toMatchObject({ priority: 'high', duplicates: [] });
  for (const { confidence, evidence } of json.data) {
    expect(confidence).toBeGreaterThan(1 / 3);
    expect(confidence).toBeLessThanOrEqual(1);
    expect(evidence.length).toBeGreaterThan(0);
  }
  expect((await ask([crash])).json.data[0]).toEqual(json.data[0]);
  const { triage } = createClient({ server: app.url, token: app.workspace.apiKey });
  expect(await triage.ask({ issues: [crash, wish, question] })).toEqual(json);
});

test('requests write nothing, and a key or a team does not change the response', async () => {
  const before = [await app.lastSequence(), await rowsOf(app, app.workspace.workspaceId)];
  await app.call('POST', '/api/v1/issues', { team: 'ENG', ...crash });
  // The index of the search is written after the response.
  await app.settled();
  const after = [await app.lastSequence(), await rowsOf(app, app.workspace.workspaceId)];
  expect(after).not.toEqual(before);
  const plain = await ask([crash]);
  for (const team of ['ENG', 'NOPE']) expect((await ask([crash], { team })).json).toEqual(plain.json);
  expect((await ask([crash], {}, app.call)).json).toEqual(plain.json);
  await stranger('POST', '/api/v1/triage', { issues: [crash] }, { 'idempotency-key': 'once' });
  expect([await app.lastSequence(), await rowsOf(app, app.workspace.workspaceId)]).toEqual(after);
});

test('a workspace with public teams returns up to three similar issues of them, and others return none', async () => {
  const other = await app.addWorkspace('Other', 'OTH');
  const theirs = app.clientOf(other.apiKey);
  await app.call('POST', '/api/v1/teams', { key: 'OPS', name: 'Ops' });
  const title = 'Export to PDF crashes with ligatures';
  const file = async (as: Client, team: string, more = ''): Promise<Json> =>
    (await as('POST', '/api/v1/issues', { team, title: title + more })).json;
  for (let n = 0; n < 4; n++) await file(app.call, 'ENG', ` ${n}`);
  const ops = await file(app.call, 'OPS');
  await file(theirs, 'OTH');
  // Texts are indexed in the background, and public requests write nothing.
  app.clock.advance(1_000);
  await app.settled();
  const duplicatesOf = async (more: object): Promise<string[]> =>
    (await ask([{ title }], more)).json.data[0].duplicates.map(({ identifier }: Json) => identifier);
  const workspace = app.workspace.workspaceId;
  const open = (publicTriage: object | null) => app.call('PATCH', '/api/v1/workspace', { publicTriage });
  expect(await duplicatesOf({ workspace })).toEqual([]);
  const before = await app.lastSequence();
  expect((await open({ teams: ['NOPE'] })).json.error.details[0].path).toBe('publicTriage.teams.0');
  expect((await open({ teams: ['OPS'] })).json.publicTriage).toEqual({ teams: ['OPS'] });
  expect(await app.eventTypes(before)).toEqual(['workspace.updated']);
  const { data } = (await ask([{ title }, question], { workspace })).json;
  expect(data[0].duplicates).toEqual([{ identifier: ops.identifier, title, score: expect.any(Number) }]);
  expect(data[0].duplicates[0].score).toBeGreaterThan(0.6);
  expect(data[1].duplicates).toEqual([]);
  const rows = await rowsOf(app, workspace);
  expect(await duplicatesOf({ workspace, team: 'ops' })).toEqual([ops.identifier]);
  const closed = await ask([{ title }], { workspace: other.workspaceId });
  for (const more of [{ workspace: 'x' }, { workspace: crypto.randomUUID() }, { workspace, team: 'ENG' }, {}])
    expect((await ask([{ title }], more)).text).toBe(closed.text);
  expect(await rowsOf(app, workspace)).toEqual(rows);
  await open({ teams: ['ENG', 'OPS'] });
  expect(await duplicatesOf({ workspace })).toHaveLength(3);
  expect(
    new Set(await duplicatesOf({ workspace, team: 'ENG' })).isDisjointFrom(new Set([ops.identifier])),
  ).toBe(true);
  await open({ teams: ['OPS'] });
  await app.call('DELETE', `/api/v1/issues/${ops.id}`);
  expect(await duplicatesOf({ workspace })).toEqual([]);
  await open(null);
  expect(await duplicatesOf({ workspace })).toEqual([]);
});

test('oversized and malformed requests are rejected', async () => {
  for (const body of [
    {},
    { issues: [] },
    { issues: [{}] },
    { issues: Array(21).fill(wish) },
    { issues: [wish], extra: 1 },
  ])
    expect((await stranger('POST', '/api/v1/triage', body)).status).toBe(422);
  expect((await ask([{ title: 'x', description: 'y'.repeat(70_000) }])).status).toBe(413);
  expect((await app.clientOf('ttm_wrong_key')('POST', '/api/v1/triage', { issues: [wish] })).status).toBe(
    401,
  );
});

test('a hostile text is answered, and the next request succeeds as before', async () => {
  const fill = (text: string, length: number): string =>
    text.repeat(Math.ceil(length / text.length)).slice(0, length);
  const hostile = [
    '<!--',
    '**',
    '[',
    '](',
    '`',
    '# a\n',
    'a:',
    'a ',
    '<a',
    'at x\n',
    '((((',
    '1.',
    '"',
    "' ",
  ];
  for (const text of hostile) {
    const { status } = await ask([{ title: fill(text, 500), description: fill(text, 20_000) }]);
    expect([text, status]).toEqual([text, 200]);
  }
  const full = Array.from({ length: 20 }, () => ({
    title: fill('crash ', 400),
    description: fill('it fails to start. ', 2_500),
  }));
  expect((await ask(full)).json.data).toHaveLength(20);
  expect((await ask([wish])).json.data[0].kind).toBe('feature');
});

test('each address has its own rate limit per minute', async () => {
  const limited = await startApp({ flags: { rateLimit: 'on', rateSearch: '3' } });
  const anybody = limited.clientOf(null);
  const statuses = [];
  for (let n = 0; n < 4; n++) statuses.push((await anybody('POST', '/api/v1/triage', { issues: [] })).status);
  expect(statuses).toEqual([422, 422, 422, 429]);
  expect((await anybody('GET', '/api/v1/openapi.json')).status).toBe(200);
  await limited.stop();
});

test('without a sandbox the response is a 503 that names the reason', async () => {
  const without = await startApp({ flags: { nodePath: '/bin/false' } });
  const { status, json } = await without.clientOf(null)('POST', '/api/v1/triage', { issues: [wish] });
  expect([status, json.error.code]).toEqual([503, 'unavailable']);
  await without.stop();
});
