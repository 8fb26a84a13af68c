// PUT by external id creates or updates an issue, and is idempotent.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type Reply, type TestApp } from '../../app.ts';
import { scenarioOf, type Scenario } from '../../scenario.ts';

let app: TestApp;
let step: Scenario;
beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
});
afterAll(() => app.stop());

const put = (id: string, body: object, headers?: Record<string, string>): Promise<Reply> =>
  app.call('PUT', `/api/v1/issues/external/jira/${id}`, body, headers);

test('a PUT by external id creates the issue, then updates it, and a repetition changes nothing', async () => {
  const path = '/issues/external/jira/PRJ-1';
  await step('GET', path, undefined, { status: 404 });
  const body = { team: 'ENG', title: 'From elsewhere', priority: 'low', labels: ['Bug'] };
  const created = await step('PUT', path, body, {
    status: 201,
    body: { identifier: 'ENG-1', externalSource: 'jira', externalId: 'PRJ-1', version: 1, priority: 'low' },
    events: ['issue.created'],
  });
  await step('PUT', path, body, { status: 200, body: created });
  const next = { title: 'Renamed', priority: 'high', removed: undefined };
  await step('PUT', path, next, {
    status: 200,
    body: { id: created.id, version: 2, title: 'Renamed', priority: 'high', labels: [{ name: 'bug' }] },
    events: ['issue.updated'],
  });
  await step('GET', path, undefined, { status: 200, body: { id: created.id, title: 'Renamed' } });
});

test('the response has the location and the version of the issue, and If-Match guards the write', async () => {
  const created = await put('etag', { team: 'ENG', title: 'Guarded' });
  expect(created.headers.get('location')).toBe(`${app.url}/api/v1/issues/${created.json.id}`);
  const etag = created.headers.get('etag')!;
  expect((await put('etag', { title: 'Second' }, { 'if-match': etag })).status).toBe(200);
  expect((await put('etag', { title: 'Third' }, { 'if-match': etag })).status).toBe(412);
  // A missing issue matches no version.
  expect((await put('not there', { team: 'ENG', title: 'New' }, { 'if-match': etag })).status).toBe(412);
});

test('any percent-encoded text in the path is an external id', async () => {
  for (const [source, id] of [
    ['https://git.acme.example/a/b', 'issues/7?x=1#top'],
    ['a b', 'ä%2F'],
    ['..', '.'],
    ['bulk', 'restore'],
  ] as const) {
    const path = `/issues/external/${encodeURIComponent(source)}/${encodeURIComponent(id)}`;
    // Clients resolve dot segments themselves unless every dot is encoded.
    const sent = path.replaceAll('/..', '/%2E%2E').replaceAll('/.', '/%2E');
    const { status, json } = await app.call('PUT', `/api/v1${sent}`, { team: 'ENG', title: 'Odd' });
    if (source === '..') {
      expect(status).toBe(404);
      continue;
    }
    expect([status, json.externalSource, json.externalId]).toEqual([201, source, id]);
    expect((await app.call('GET', `/api/v1${path}`)).json.id).toBe(json.id);
  }
  const long = `/issues/external/jira/${'x'.repeat(256)}`;
  await step(
    'PUT',
    long,
    { team: 'ENG', title: 'Long' },
    { status: 422, error: ['validation_failed', 'externalId too_long'] },
  );
});

test('an invalid creation or update is refused as on the issues endpoint', async () => {
  await put('refused', { team: 'ENG', title: 'There' });
  await app.call('POST', '/api/v1/teams', { key: 'OPS' });
  for (const [id, body, ...details] of [
    ['new', { title: 'Without a team' }, 'team required'],
    ['new', { team: 'ENG' }, 'title required'],
    ['new', { team: 'NOPE', title: 'x' }, 'team not_found'],
    ['new', { team: 'ENG', title: 'x', labels: ['nothing like it'] }, 'labels.0 not_found'],
    ['new', { team: 'ENG', title: 'x', externalId: 'y' }, 'externalId unknown_field'],
    ['refused', { title: 'x', labels: ['nothing like it'] }, 'labels.0 not_found'],
    ['refused', { title: 'x', team: 'OPS' }, 'team conflict'],
  ] as const)
    await step('PUT', `/issues/external/jira/${id}`, body, {
      status: 422,
      error: ['validation_failed', ...details],
    });
});

test('a deleted issue reserves its external id, and the error explains how to continue', async () => {
  const { json } = await put('deleted', { team: 'ENG', title: 'Deleted' });
  await app.call('DELETE', `/api/v1/issues/${json.id}`);
  expect((await app.call('GET', '/api/v1/issues/external/jira/deleted')).status).toBe(404);
  const refused = await put('deleted', { team: 'ENG', title: 'Again' });
  expect([refused.status, refused.json.error.code]).toEqual([409, 'conflict']);
  expect(refused.json.error.message).toContain(json.id);
  await app.call('POST', `/api/v1/issues/${json.id}/restore`);
  expect((await put('deleted', { title: 'Again' })).json).toMatchObject({ id: json.id, title: 'Again' });
});

test('concurrent requests create one issue, and a repeated idempotency key gets its own response', async () => {
  const from = await app.lastSequence();
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      put(
        'contested',
        { team: 'ENG', title: 'Contested', estimate: index % 3 },
        { 'idempotency-key': `k${index}` },
      ),
    ),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
  expect(new Set(replies.map(({ json }) => json.id)).size).toBe(1);
  const eventTypes = await app.eventTypes(from);
  expect(eventTypes.filter((type) => type === 'issue.created')).toHaveLength(1);
  const again = await put(
    'contested',
    { team: 'ENG', title: 'Contested', estimate: 0 },
    { 'idempotency-key': 'k0' },
  );
  expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([replies[0]!.text, 'true']);
  // Paths that differ before decoding are different requests.
  const other = await app.call(
    'PUT',
    '/api/v1/issues/external/jira%2Fcontested/x',
    { team: 'ENG', title: 'Other' },
    { 'idempotency-key': 'slash' },
  );
  const alike = await app.call(
    'PUT',
    '/api/v1/issues/external/jira/contested%2Fx',
    { team: 'ENG', title: 'Other' },
    { 'idempotency-key': 'slash' },
  );
  expect([other.status, alike.status, alike.headers.get('idempotent-replayed')]).toEqual([201, 201, null]);
  const listed: Json[] = (
    await app.call('GET', `/api/v1/issues?filter=${encodeURIComponent('{"externalId":"contested"}')}`)
  ).json.data;
  expect(listed).toHaveLength(1);
});

test('a path with U+0000 is answered like a missing object on every route, and creates nothing', async () => {
  const paths = app.app.routes.filter(({ path }) => path.includes('{'));
  expect(paths.length).toBeGreaterThan(30);
  for (const { method, path } of paths) {
    const requestPath = path.replaceAll(/\{\w+\}/g, 'a%00');
    const { status } = await app.call(method, requestPath, method === 'GET' ? undefined : {});
    // A PUT would create the object.
    const refused = method === 'PUT' && path.includes('/external/') ? 422 : 404;
    expect([method, path, status]).toEqual([method, path, refused]);
  }
  const { status, json } = await put('%00', { team: 'ENG', title: 'Cut' });
  expect([status, json.error.details]).toEqual([
    422,
    [{ path: 'externalId', issue: 'invalid_format', fix: 'Remove the character U+0000.' }],
  ]);
  expect(app.logs.filter(({ level }) => level === 'error')).toEqual([]);
});
