import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type Reply, type TestApp } from '../app.ts';

let app: TestApp;
let pipeline: Json;
let tags = 0;
const v1 = '/api/v1';

beforeAll(async () => {
  app = await startApp();
  pipeline = await create('/pipelines', { name: 'Editor', team: 'ENG' });
});
afterAll(() => app.stop());

async function create(path: string, body: object): Promise<Json> {
  const { status, json } = await app.call('POST', v1 + path, body);
  expect([path, status, json.error]).toEqual([path, 201, undefined]);
  return json;
}
const planned = (more: object = {}): Promise<Json> =>
  create('/releases', { name: 'Spring', tag: `2.${tags++}`, pipelineId: pipeline.id, ...more });
const did = (release: Json, verb: string, body?: object): Promise<Reply> =>
  app.call('POST', `${v1}/releases/${release.id}/${verb}`, body);
const got = async ({ id }: Json): Promise<Json> => (await app.call('GET', `${v1}/releases/${id}`)).json;
const issueOf = (title: string, more: object = {}): Promise<Json> =>
  create('/issues', { team: 'ENG', title, ...more });
const codeOf = ({ status, json }: Reply): [number, string | undefined] => [status, json?.error?.code];

test('a release moves forward and back through the stages of its pipeline', async () => {
  const since = await app.lastSequence();
  const release = await planned({ targetDate: '2027-03-01' });
  expect(release).toMatchObject({
    pipeline: { id: pipeline.id, name: 'Editor' },
    ...{ stage: 'planned', status: 'planned', publishedAt: null, issueIds: [], notes: '' },
  });
  const staged = await did(release, 'stage', { stage: 'staging' });
  expect(staged.json).toMatchObject({ stage: 'staging', status: 'in_progress' });
  const wrong = await did(release, 'stage', { stage: 'nowhere' });
  expect([wrong.status, wrong.json.error.details[0]]).toMatchObject([
    422,
    { path: 'stage', issue: 'not_found' },
  ]);
  expect(codeOf(await did(release, 'rollback', { reason: 'Too early' }))).toEqual([409, 'conflict']);
  const published = await did(release, 'publish');
  const now = new Date(app.clock.now()).toISOString();
  expect(published.json).toMatchObject({ status: 'published', stage: 'released', publishedAt: now });
  const unsaid = await did(release, 'rollback');
  expect(unsaid.json.error.details).toMatchObject([{ path: 'reason', issue: 'required' }]);
  const back = await did(release, 'rollback', { reason: 'Saving loses comments.' });
  expect(back.json).toMatchObject({
    ...{ status: 'rolled_back', publishedAt: now, rolledBackAt: now },
    rollbackReason: 'Saving loses comments.',
  });
  expect(codeOf(await did(release, 'rollback', { reason: 'Again' }))).toEqual([409, 'conflict']);
  expect(codeOf(await did(release, 'publish'))).toEqual([409, 'conflict']);
  expect(await app.eventTypes(since)).toEqual([
    ...['release.created', 'release.updated', 'release.published', 'release.rolled_back'],
  ]);
});

test('one of two concurrent publications succeeds, and the other is rejected as already published', async () => {
  for (let round = 0; round < 5; round++) {
    const release = await planned();
    const since = await app.lastSequence();
    const answers = await Promise.all([did(release, 'publish'), did(release, 'publish')]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await app.eventTypes(since)).toEqual(['release.published']);
  }
});

test('a tag is unique within a pipeline, also under concurrent requests, and is free after its release is deleted', async () => {
  const body = { name: 'Once', tag: '9.0', pipelineId: pipeline.id };
  const answers = await Promise.all([1, 2, 3].map(() => app.call('POST', `${v1}/releases`, body)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422, 422]);
  const refused = answers.find(({ status }) => status === 422)!;
  expect(refused.json.error.details[0]).toMatchObject({ path: 'tag', issue: 'already_exists' });
  const other = await create('/pipelines', { name: 'Viewer' });
  await create('/releases', { ...body, pipelineId: other.id });
  const { id } = answers.find(({ status }) => status === 201)!.json;
  expect((await app.call('DELETE', `${v1}/releases/${id}`)).status).toBe(204);
  await create('/releases', body);
});

test('the issues of a release are named or found by a query, and are fixed once it is published', async () => {
  const release = await planned();
  const [first, second, third] = [
    await issueOf('First', { priority: 'urgent' }),
    await issueOf('Second', { priority: 'urgent' }),
    await issueOf('Third'),
  ];
  const since = await app.lastSequence();
  const byIds = await did(release, 'issues', { issueIds: [third.identifier] });
  expect(byIds.json.issueIds).toEqual([third.id]);
  const byFilter = await did(release, 'issues', { filter: { priority: 'urgent' } });
  expect(byFilter.json.issueIds).toEqual([third.id, first.id, second.id]);
  // Adding an issue that the release already has changes nothing.
  expect((await did(release, 'issues', { issueIds: [first.id] })).json.version).toBe(byFilter.json.version);
  const path = `${v1}/releases/${release.id}/issues`;
  const titles = async (query = ''): Promise<string[]> =>
    (await app.call('GET', path + query)).json.data.map(({ title }: Json) => title);
  expect(await titles()).toEqual(['Third', 'Second', 'First']);
  expect(await titles(`?filter=${JSON.stringify({ priority: 'urgent' })}&sort=title`)).toEqual([
    'First',
    'Second',
  ]);
  const page = (await app.call('GET', `${path}?limit=1`)).json;
  expect(await titles(`?after=${page.pageInfo.endCursor}`)).toEqual(['Second', 'First']);
  const strange = await app.call('GET', `${v1}/issues?after=${page.pageInfo.endCursor}`);
  expect(codeOf(strange)).toEqual([400, 'invalid_cursor']);
  await did(release, 'issues/remove', { issueIds: [second.identifier, 'ENG-999'] });
  expect(await titles()).toEqual(['Third', 'First']);
  expect(codeOf(await did(release, 'issues', { issueIds: ['ENG-999'] }))).toEqual([422, 'validation_failed']);
  await did(release, 'publish');
  for (const verb of ['issues', 'issues/remove'])
    expect(codeOf(await did(release, verb, { issueIds: [second.id] }))).toEqual([409, 'conflict']);
  expect(await app.eventTypes(since)).toEqual([
    ...['release.updated', 'release.updated', 'release.updated', 'release.published'],
  ]);
});

test('an issue added during publication is either part of the release or rejected', async () => {
  const issue = await issueOf('In time?');
  for (let round = 0; round < 5; round++) {
    const release = await planned();
    const [added] = await Promise.all([
      did(release, 'issues', { issueIds: [issue.id] }),
      did(release, 'publish'),
    ]);
    const { issueIds, status } = await got(release);
    expect(status).toBe('published');
    expect([added.status, issueIds]).toEqual(added.status === 200 ? [200, [issue.id]] : [409, []]);
  }
});

test('a purged issue leaves the lists of releases, and releases retain its id', async () => {
  const release = await planned();
  const issue = await issueOf('Gone');
  await did(release, 'issues', { issueIds: [issue.id] });
  await app.call('DELETE', `${v1}/issues/${issue.id}`);
  expect((await app.call('POST', `${v1}/issues/${issue.id}/purge`)).status).toBe(204);
  expect((await app.call('GET', `${v1}/releases/${release.id}/issues`)).json.data).toEqual([]);
  expect((await got(release)).issueIds).toEqual([issue.id]);
  expect((await did(release, 'issues/remove', { issueIds: [issue.id] })).json.issueIds).toEqual([]);
});

test('notes are drafted by label, deterministically, and saved on request', async () => {
  const release = await planned();
  const { json: states } = await app.call('GET', `${v1}/workflows?team=ENG`);
  const canceled = states.data.find(({ type }: Json) => type === 'canceled').id;
  const issues = [
    await issueOf('Saving *tells* why it fails', { labels: ['bug'] }),
    await issueOf('Dark mode', { labels: ['feature', 'bug'] }),
    await issueOf('Nothing came of it', { labels: ['feature'], stateId: canceled }),
    await issueOf('Shorter manual'),
  ];
  await did(release, 'issues', { issueIds: issues.map(({ id }) => id).toReversed() });
  const since = await app.lastSequence();
  const draft = await did(release, 'notes/draft', {});
  expect((await did(release, 'notes/draft')).json).toEqual(draft.json);
  const line = (at: number, title: string) => `- ${title} ([${issues[at]!.identifier}](${issues[at]!.url}))`;
  expect(draft.json).toEqual({
    notes: [
      ...['## Features', '', line(1, 'Dark mode'), ''],
      ...['## Fixes', '', line(0, String.raw`Saving \*tells\* why it fails`), ''],
      ...['## Other changes', '', line(3, 'Shorter manual'), ''],
    ].join('\n'),
  });
  expect([(await got(release)).notes, await app.eventTypes(since)]).toEqual(['', []]);
  expect((await did(release, 'notes/draft', { save: true })).json).toEqual(draft.json);
  expect([(await got(release)).notes, await app.eventTypes(since)]).toEqual([
    draft.json.notes,
    ['release.updated'],
  ]);
  await did(release, 'publish');
  expect(codeOf(await did(release, 'notes/draft', { save: true }))).toEqual([409, 'conflict']);
  const path = `${v1}/releases/${release.id}`;
  expect((await app.call('PATCH', path, { notes: 'By hand.' })).json.notes).toBe('By hand.');
  for (const body of [{ name: 'Other' }, { tag: '77' }, { targetDate: '2027-01-01' }])
    expect([body, ...codeOf(await app.call('PATCH', path, body))]).toEqual([body, 409, 'conflict']);
  expect(codeOf(await app.call('DELETE', path))).toEqual([409, 'conflict']);
});

test('a draft above the size limit of notes says how much it omits', async () => {
  const release = await planned();
  const title = '\u2603'.repeat(499);
  for (let n = 0; n < 3; n++)
    await app.call('POST', `${v1}/issues/bulk`, {
      issues: Array.from({ length: 100 }, () => ({ team: 'ENG', title, priority: 'low' })),
    });
  await did(release, 'issues', { filter: { priority: 'low' } });
  const { json } = await did(release, 'notes/draft', { save: true });
  expect(Buffer.byteLength(json.notes)).toBeLessThanOrEqual(256 * 1024);
  expect(json.notes).toMatch(/\nAnd \d+ more\.\n$/);
  expect((await got(release)).notes).toBe(json.notes);
});

test('a pipeline with releases is not deleted, and the releases of a removed stage remain unchanged', async () => {
  const own = await create('/pipelines', { name: 'Own', type: 'continuous', stages: ['a', 'b', 'c'] });
  const release = await planned({ pipelineId: own.id });
  await did(release, 'stage', { stage: 'b' });
  const path = `${v1}/pipelines/${own.id}`;
  expect((await app.call('PATCH', path, { stages: ['a', 'z'] })).status).toBe(200);
  expect((await got(release)).stage).toBe('b');
  expect(codeOf(await app.call('DELETE', path))).toEqual([409, 'conflict']);
  await app.call('DELETE', `${v1}/releases/${release.id}`);
  const since = await app.lastSequence();
  const [deleted, late] = await Promise.all([
    app.call('DELETE', path),
    app.call('POST', `${v1}/releases`, { name: 'Late', tag: '1', pipelineId: own.id }),
  ]);
  expect([deleted.status, late.status]).toBeOneOf([
    [204, 422],
    [409, 201],
  ]);
  expect((await app.eventTypes(since)).length).toBe(1);
});
