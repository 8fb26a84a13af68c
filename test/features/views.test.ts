import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { scenarioOf, type Scenario } from '../scenario.ts';

let app: TestApp;
let step: Scenario;
/** Another member of the workspace, with all scopes that the tests need. */
let other: Client;
const scopes = ['views:write', 'issues:write', 'events:read', 'audit:read'];
beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
  const { json: member } = await app.call('POST', '/api/v1/members', { name: 'Ben' });
  const { json } = await app.call('POST', '/api/v1/api-keys', { name: 'ben', scopes, memberId: member.id });
  other = app.clientOf(json.key);
  for (const [title, priority] of [
    ['first', 'low'],
    ['second', 'urgent'],
    ['third', 'high'],
  ]) {
    app.clock.advance(1000);
    await app.call('POST', '/api/v1/issues', { team: 'ENG', title, priority });
  }
});
afterAll(() => app.stop());

const titlesOf = async (path: string, call: Client = app.call): Promise<string[]> =>
  (await call('GET', `/api/v1${path}`)).json.data.map(({ title }: Json) => title);

test('a view lists its issues in its order, and parameters narrow it further', async () => {
  const body = {
    name: 'Pressing',
    filter: { priority: ['high', 'urgent'] },
    sort: '-priority',
    visibility: 'shared',
  };
  const view = await step('POST', '/views', body, { status: 201, events: ['view.created'], body });
  const path = `/views/${view.id}/issues`;
  expect(await titlesOf(path)).toEqual(['second', 'third']);
  expect(await titlesOf(`${path}?sort=createdAt&fields=title`)).toEqual(['second', 'third']);
  expect(await titlesOf(`${path}?sort=-createdAt`)).toEqual(['third', 'second']);
  expect(await titlesOf(`${path}?priority=high`)).toEqual(['third']);
  expect(await titlesOf(`${path}?priority=low`)).toEqual([]);
  const { pageInfo } = (await app.call('GET', `/api/v1${path}?limit=1`)).json;
  expect(await titlesOf(`${path}?limit=1&after=${pageInfo.endCursor}`)).toEqual(['third']);
  await step('PATCH', `/views/${view.id}`, { filter: {} }, { status: 200, events: ['view.updated'] });
  // The cursor belongs to another list.
  await step('GET', `${path}?limit=1&after=${pageInfo.endCursor}`, undefined, {
    status: 400,
    error: ['invalid_cursor'],
  });
  expect(await titlesOf(path, other)).toEqual(['second', 'third', 'first']);
});

test('a view accepts only existing references, and a reference deleted later matches nothing', async () => {
  for (const [body, detail] of [
    [{ filter: { label: 'nothing like it' } }, 'filter.label not_found'],
    [{ sort: 'colour' }, 'sort invalid_enum'],
  ] as const)
    await step(
      'POST',
      '/views',
      { name: 'Wrong', ...body },
      { status: 422, error: ['validation_failed', detail] },
    );
  const { json: label } = await app.call('POST', '/api/v1/labels', { name: 'brief' });
  const filter = { or: [{ label: 'brief' }, { priority: 'low' }] };
  const { json: view } = await app.call('POST', '/api/v1/views', { name: 'Kept', filter });
  await app.call('DELETE', `/api/v1/labels/${label.id}`);
  expect(await titlesOf(`/views/${view.id}/issues`)).toEqual(['first']);
});

test('a sort by a deleted custom field is ignored in a view and on a board', async () => {
  const { json: field } = await app.call('POST', '/api/v1/fields', {
    key: 'size',
    name: 'Size',
    type: 'number',
  });
  const sort = 'fields.size,-title';
  const { json: view } = await app.call('POST', '/api/v1/views', { name: 'By size', sort });
  const { json: alone } = await app.call('POST', '/api/v1/views', { name: 'Size', sort: 'fields.size' });
  const { json: board } = await app.call('POST', '/api/v1/boards', { name: 'By size', sort });
  await step('DELETE', `/fields/${field.id}`, undefined, { status: 204, events: ['field.deleted'] });
  expect(await titlesOf(`/views/${view.id}/issues`)).toEqual(['third', 'second', 'first']);
  expect(await titlesOf(`/views/${alone.id}/issues`)).toEqual(['third', 'second', 'first']);
  const { json: cards } = await app.call('GET', `/api/v1/boards/${board.id}/cards`);
  const [column] = cards.columns.filter(({ count }: Json) => count > 0);
  expect(column.cards.map(({ title }: Json) => title)).toEqual(['third', 'second', 'first']);
  // A new request with that sort is rejected.
  await step('GET', `/views/${view.id}/issues?sort=fields.size`, undefined, { status: 422, events: [] });
  await step('PATCH', `/views/${view.id}`, { name: 'Sized' }, { status: 200, events: ['view.updated'] });
});

test('a personal view is visible to its owner only, and emits no readable data', async () => {
  const secret = 'Reorganisation';
  const from = await app.lastSequence();
  const body = { name: secret, description: secret, filter: { title: { contains: secret } }, sort: 'title' };
  const view = await step('POST', '/views', body, { status: 201, events: ['view.created'], body });
  await step(
    'PATCH',
    `/views/${view.id}`,
    { description: `${secret}!` },
    { status: 200, events: ['view.updated'] },
  );
  expect(view).toMatchObject({ visibility: 'personal', owner: { kind: 'user', name: 'Acme owner' } });
  const path = `/api/v1/views/${view.id}`;
  const missing = '/api/v1/views/viw_00000000000000000000000001';
  for (const [method, suffix, sent] of [
    ['GET', ''],
    ['GET', '/issues'],
    ['PATCH', '', { name: 'Mine' }],
    ['DELETE', ''],
    ['POST', '/restore'],
  ] as const) {
    const [hidden, none] = await Promise.all(
      [path, missing].map((at) => other(method, `${at}${suffix}`, sent)),
    );
    const bare = (text: string) => text.replace(/req_\w+/, '');
    expect([hidden!.status, bare(hidden!.text)]).toEqual([404, bare(none!.text)]);
  }
  expect((await app.call('GET', '/api/v1/views')).text).toContain(secret);
  await step('DELETE', `/views/${view.id}`, undefined, { status: 204, events: ['view.deleted'] });
  for (const read of ['/views', '/views?deleted=include', `/events?after=${from}`, '/audit-log'])
    expect((await other('GET', `/api/v1${read}`)).text).not.toContain(secret);
  expect((await app.call('GET', `/api/v1/events?after=${from}`)).text).not.toContain(secret);
});

test('a shared view emits all of its data, and only its owner makes it personal', async () => {
  const { json: view } = await app.call('POST', '/api/v1/views', { name: 'Roadmap' });
  const shared = { visibility: 'shared' };
  await step('PATCH', `/views/${view.id}`, shared, { status: 200, events: ['view.updated'] });
  const { json } = await other('GET', '/api/v1/events?types=view.updated&limit=100');
  expect(json.data.at(-1).data).toMatchObject({ id: view.id, name: 'Roadmap', visibility: 'shared' });
  const hide = await other('PATCH', `/api/v1/views/${view.id}`, { visibility: 'personal' });
  expect([hide.status, hide.json.error.code]).toEqual([403, 'forbidden']);
  const renamed = await other('PATCH', `/api/v1/views/${view.id}`, { name: 'Plan' });
  expect([renamed.status, renamed.json.name]).toEqual([200, 'Plan']);
});

test('a key without issues:read sees no issues of a view or board', async () => {
  const call = app.clientOf(await app.mintKey(['views:read', 'boards:write']));
  const { json: board } = await call('POST', '/api/v1/boards', { name: 'Blind' });
  const { json: view } = await app.call('POST', '/api/v1/views', { name: 'Seen', visibility: 'shared' });
  for (const [method, path, body] of [
    ['GET', `/views/${view.id}/issues`],
    ['GET', `/boards/${board.id}/cards`],
    ['GET', `/boards/${board.id}/columns/Todo/cards`],
    ['POST', `/boards/${board.id}/move`, { issueId: 'ENG-1', column: 'Todo' }],
  ] as const) {
    const { status, json } = await call(method, `/api/v1${path}`, body);
    expect([path, status, json.error?.code]).toEqual([path, 403, 'insufficient_scope']);
  }
});
