// The feed, the history of an issue and the audit log show the same events without gaps, with actor and cause, and
// neither they nor `expand` show anything outside the scopes of the reader.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';

let app: TestApp;
let issue: Json;
let narrow: Client;

beforeAll(async () => {
  app = await startApp();
  issue = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Watched' })).json;
  await app.call('POST', `/api/v1/issues/${issue.id}/comments`, { body: 'A secret between us' });
  await app.call('PATCH', `/api/v1/issues/${issue.id}`, { priority: 'high' });
  narrow = app.clientOf(await app.mintKey(['issues:read', 'events:read']));
});
afterAll(() => app.stop());

const feed = async (query = '', call = app.call): Promise<Json> =>
  (await call('GET', `/api/v1/events?limit=100${query}`)).json;
const typesOf = (events: Json[]): string[] => events.map(({ type }) => type);

test('the log of a new workspace starts at sequence 1, has no gap, and each event is its own root', async () => {
  const { data } = await feed();
  expect(data.map(({ sequence }: Json) => sequence)).toEqual(data.map((_: Json, index: number) => index + 1));
  expect(typesOf(data)).toEqual([
    'workspace.created',
    'member.added',
    'team.created',
    ...Array(7).fill('workflow.state_created'),
    ...Array(3).fill('label.created'),
    'api_key.created',
    'issue.created',
    'comment.added',
    'issue.updated',
    'api_key.created',
  ]);
  for (const event of data) {
    expect(event.cause).toEqual({ rootEventId: event.id, parentRunId: null, depth: 0, path: [] });
    expect(event.workspace_id).toBe(app.workspace.workspaceId);
    expect(event.created_at).toBe('2026-11-20T12:00:00.000Z');
  }
  const created = data.find(({ type }: Json) => type === 'issue.created');
  expect(created.actor).toEqual({
    kind: 'api_key',
    id: expect.stringMatching(/^key_/),
    name: 'First key',
    memberId: app.workspace.userId,
  });
  expect(created.data).toMatchObject(issue);
  expect((await app.call('GET', `/api/v1/events/${created.id}`)).json).toEqual(created);
});

test('`after` accepts a sequence, an event id or a cursor, and all three continue at the same position', async () => {
  const { data } = await feed();
  const { json: first } = await app.call('GET', '/api/v1/events?limit=5');
  expect(first.pageInfo.hasNextPage).toBe(true);
  for (const after of ['5', data[4].id, first.pageInfo.endCursor])
    expect((await feed(`&after=${after}`)).data).toEqual(data.slice(5));
  const last = await feed(`&after=${data.at(-1).sequence}`);
  expect(last.data).toEqual([]);
  // The end cursor of an empty page finds later events.
  const label = (await app.call('POST', '/api/v1/labels', { name: 'later' })).json;
  expect((await feed(`&cursor=${last.pageInfo.endCursor}`)).data).toMatchObject([{ data: { id: label.id } }]);
  expect((await feed('&types=issue.*,comment.added')).data.map(({ type }: Json) => type)).toEqual([
    'issue.created',
    'comment.added',
    'issue.updated',
  ]);
  for (const [query, issue] of [
    ['after=evt_00000000000000000000000001', 'after not_found'],
    ['types=issue.exploded', 'types invalid_enum'],
    ['after=1&cursor=2', 'cursor conflict'],
  ]) {
    const { json } = await app.call('GET', `/api/v1/events?${query}`);
    expect(json.error.details.map((detail: Json) => `${detail.path} ${detail.issue}`)).toEqual([issue]);
  }
});

test('a token reads only the events that its scopes allow', async () => {
  expect(new Set(typesOf((await feed('', narrow)).data))).toEqual(
    new Set(['issue.created', 'issue.updated']),
  );
  const comment = (await feed()).data.find(({ type }: Json) => type === 'comment.added');
  expect((await narrow('GET', `/api/v1/events/${comment.id}`)).status).toBe(404);
  const history = async (call: Client): Promise<string[]> =>
    typesOf((await call('GET', `/api/v1/issues/${issue.id}/history`)).json.data);
  expect(await history(app.call)).toEqual(['issue.created', 'comment.added', 'issue.updated']);
  expect(await history(narrow)).toEqual(['issue.created', 'issue.updated']);
  expect((await narrow('GET', `/api/v1/issues/${issue.id}/history?limit=1`)).text).not.toContain('secret');
});

test('the history of an issue is paged and remains after the deletion of the issue', async () => {
  const seen: string[] = [];
  for (let after: string | null = null; ;) {
    const { json }: Json = await app.call(
      'GET',
      `/api/v1/issues/${issue.id}/history?limit=1${after === null ? '' : `&after=${after}`}`,
    );
    seen.push(...typesOf(json.data));
    after = json.pageInfo.endCursor;
    if (!json.pageInfo.hasNextPage) break;
  }
  expect(seen).toEqual(['issue.created', 'comment.added', 'issue.updated']);
  const brief = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Brief' })).json;
  await app.call('DELETE', `/api/v1/issues/${brief.id}`);
  expect(typesOf((await app.call('GET', `/api/v1/issues/${brief.id}/history`)).json.data)).toEqual([
    'issue.created',
    'issue.deleted',
  ]);
});

test('expand shows whole objects to readers with the scope, and never a deleted object', async () => {
  const member = (await app.call('POST', '/api/v1/members', { name: 'Ana', email: 'ana@acme.example' })).json;
  const project = (await app.call('POST', '/api/v1/projects', { name: 'Hidden' })).json;
  const parent = (
    await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Doomed', description: 'gone' })
  ).json;
  const child = (
    await app.call('POST', '/api/v1/issues', {
      team: 'ENG',
      title: 'Child',
      assigneeId: member.id,
      projectId: project.id,
      parentId: parent.id,
    })
  ).json;
  const path = `/api/v1/issues/${child.id}?expand=`;
  expect((await app.call('GET', `${path}assignee,project,parent`)).json).toMatchObject({
    assignee: { email: 'ana@acme.example' },
    project: { status: 'backlog' },
    parent: { description: 'gone' },
  });
  for (const [name, scope] of [
    ['assignee', 'members:read'],
    ['project', 'projects:read'],
  ]) {
    for (const at of [path, '/api/v1/issues?expand='])
      expect((await narrow('GET', `${at}${name}`)).json).toMatchObject({
        error: { code: 'insufficient_scope', message: expect.stringContaining(scope!) },
      });
    const wider = app.clientOf(await app.mintKey(['issues:read', scope!]));
    expect((await wider('GET', `${path}${name}`)).status).toBe(200);
  }
  expect((await narrow('GET', `${path}parent`)).json.parent.description).toBe('gone');
  await app.call('DELETE', `/api/v1/issues/${parent.id}`);
  await app.call('DELETE', `/api/v1/members/${member.id}`);
  expect((await app.call('GET', `${path}assignee,parent`)).json).toMatchObject({
    assignee: { id: member.id, name: 'Ana' },
    parent: { id: parent.id, identifier: parent.identifier },
  });
  const { json } = await app.call('GET', `${path}assignee,parent`);
  expect([Object.keys(json.assignee), Object.keys(json.parent)]).toEqual([
    ['id', 'name'],
    ['id', 'identifier'],
  ]);
});

test('the audit log lists actor, action and object, newest first, by request id', async () => {
  const reply = await app.call('POST', '/api/v1/labels', { name: 'audited' }, { traceparent: 'nonsense' });
  const { data } = (await app.call('GET', '/api/v1/audit-log?limit=1')).json;
  expect(data).toMatchObject([
    {
      action: 'label.created',
      actor: { memberId: app.workspace.userId },
      target: { kind: 'label', id: reply.json.id },
      requestId: reply.headers.get('x-request-id'),
    },
  ]);
  const all = (await app.call('GET', '/api/v1/audit-log?limit=100')).json.data;
  expect(all.map(({ sequence }: Json) => sequence)).toEqual(
    all.map((_: Json, index: number) => all.length - index),
  );
  const of = async (query: string): Promise<string[]> =>
    (await app.call('GET', `/api/v1/audit-log?limit=100&${query}`)).json.data.map(({ id }: Json) => id);
  expect(await of(`target=${reply.json.id}`)).toEqual([data[0].id]);
  expect(await of('action=workspace.created')).toEqual([all.at(-1).id]);
  expect((await of(`actor=${app.workspace.userId}`)).length).toBeGreaterThan(5);
  expect(await of('actor=usr_nobody')).toEqual([]);
});

test('an event shows names as they were at its time, also after a rename', async () => {
  const digest = async (): Promise<string> =>
    createHash('sha256')
      .update(JSON.stringify((await feed()).data.slice(0, 20)))
      .digest('hex');
  const before = await digest();
  const labels: Json[] = (await app.call('GET', '/api/v1/labels')).json.data;
  await app.call('PATCH', `/api/v1/labels/${labels[0].id}`, { name: 'renamed' });
  await app.call('PATCH', `/api/v1/members/${app.workspace.userId}`, { name: 'Renamed' });
  await app.call('PATCH', `/api/v1/teams/${app.workspace.teamId}`, { name: 'Renamed' });
  expect(await digest()).toBe(before);
});

const times = { early: '', middle: '', late: '' };
const listed = async (path: string, query: string): Promise<Json> =>
  (await app.call('GET', `/api/v1/${path}?limit=2&${query}`)).json;
const allOf = async (path: string, query: string): Promise<string[]> => {
  const names: string[] = [];
  for (let after = ''; ;) {
    const { data, pageInfo } = await listed(path, query + after);
    names.push(...data.map(({ target, data }: Json) => target?.id ?? data.id));
    if (!pageInfo.hasNextPage) return names;
    after = `&after=${pageInfo.endCursor}`;
  }
};

test('`since` and `until` bound the feed and the audit log, over all pages', async () => {
  const now = (): string => new Date(app.clock.now()).toISOString();
  const labels: string[] = [];
  const create = async (name: string): Promise<void> =>
    void labels.push((await app.call('POST', '/api/v1/labels', { name })).json.id);
  app.clock.advance(60_000);
  times.early = now();
  for (const name of ['first', 'second', 'third']) await create(name);
  app.clock.advance(60_000);
  times.middle = now();
  await create('fourth');
  app.clock.advance(60_000);
  times.late = now();
  const between = (since: string, until: string): string => `since=${since}&until=${until}`;
  const [three, four] = [labels.slice(0, 3), labels];
  expect(await allOf('events', between(times.early, times.middle))).toEqual(three);
  expect(await allOf('audit-log', between(times.early, times.middle))).toEqual(three.toReversed());
  expect(await allOf('events', `since=${times.early}`)).toEqual(four);
  expect(await allOf('audit-log', `since=${times.early}`)).toEqual(four.toReversed());
  expect((await allOf('events', `until=${times.middle}`)).at(-1)).toBe(three[2]!);
  expect((await allOf('audit-log', `until=${times.middle}`))[0]).toBe(three[2]!);
  for (const path of ['events', 'audit-log']) {
    expect(await allOf(path, between(times.middle, times.middle))).toEqual([]);
    expect(await allOf(path, `since=${times.late}`)).toEqual([]);
    expect(await allOf(path, 'until=2000-01-01T00:00:00Z')).toEqual([]);
  }
});

test('a cursor of the feed continues behind a range that ends in the future', async () => {
  const query = `since=${times.late}&until=2027-01-01T00:00:00Z`;
  const { data, pageInfo } = await listed('events', query);
  expect([data, pageInfo.hasNextPage]).toEqual([[], false]);
  const { json: label } = await app.call('POST', '/api/v1/labels', { name: 'fifth' });
  const next = await listed('events', `${query}&after=${pageInfo.endCursor}`);
  expect(next.data.map((event: Json) => event.data.id)).toEqual([label.id]);
});

test('a range that ends before it starts, or without a time, names the parameter at fault', async () => {
  for (const path of ['events', 'audit-log']) {
    const of = async (query: string): Promise<Json> => (await listed(path, query)).error.details;
    expect(await of(`since=${times.late}&until=${times.early}`)).toEqual([
      {
        path: 'until',
        issue: 'too_small',
        fix: 'Send an `until` at or after `since`.',
      },
    ]);
    expect(await of('since=yesterday')).toMatchObject([{ path: 'since', issue: 'invalid_format' }]);
  }
});

test('a page of a range in a long log costs a few look-ups by sequence', async () => {
  const batch = Array.from({ length: 100 }, (_, n) => ({ team: 'ENG', title: `Bulk ${n}` }));
  // A page examines at most 5,000 events, so it would be empty if it began at the end of the log.
  for (let n = 0; n < 26; n++) await app.call('POST', '/api/v1/issues/bulk', { issues: batch });
  for (let n = 0; n < 26; n++) await app.call('POST', '/api/v1/issues/bulk', { issues: batch });
  expect(await app.lastSequence()).toBeGreaterThan(5_200);
  const range = `since=${times.middle}&until=${times.late}&action=label.created`;
  expect((await listed('audit-log', range)).data).toHaveLength(1);
  app.clock.advance(60_000);
  const { json: label } = await app.call('POST', '/api/v1/labels', { name: 'last' });
  const since = new Date(app.clock.now()).toISOString();
  const feed = await listed('events', `since=${since}&types=label.*`);
  expect(feed.data.map((event: Json) => event.data.id)).toEqual([label.id]);
});
