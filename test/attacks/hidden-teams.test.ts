// Guests and hidden teams: external ids and moved issues neither reveal hidden issues nor give access to them.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { askAs, rightsBut } from '../rights/asking.ts';

const v1 = '/api/v1';
const external = { externalSource: 'jira', externalId: 'PRJ-1' };

let app: TestApp;
let guest: Client;
let hidden: Json;
let moved: Json;

async function create(path: string, body: object): Promise<Json> {
  const { status, json, text } = await app.call('POST', `${v1}${path}`, body);
  if (status !== 201 && status !== 200) throw new Error(`POST ${path} answered ${status}: ${text}`);
  return json;
}

beforeAll(async () => {
  app = await startApp();
  await create('/teams', { key: 'OUT', name: 'canary' });
  const state = await create('/workflows', { name: 'canary state', type: 'started', team: 'OUT' });
  const { id } = await create('/members', { name: 'Gil', role: 'guest', teams: ['ENG'] });
  const key = await create('/api-keys', { name: 'k', scopes: allScopes, memberId: id });
  guest = app.clientOf(key.key);
  hidden = await create('/issues', { team: 'OUT', title: 'canary', ...external });
  const first = await create('/issues', { team: 'OUT', title: 'canary before', stateId: state.id });
  await app.call('PATCH', `${v1}/issues/${first.id}`, { title: 'Shown', priority: 'high' });
  await app.call('POST', `${v1}/issues/${first.id}/move`, { team: 'ENG' });
  await app.call('PATCH', `${v1}/issues/${first.id}`, { priority: 'low' });
  moved = { ...first, now: (await app.call('GET', `${v1}/issues/${first.id}`)).json.identifier };
});
afterAll(() => app.stop());

const answer = ({ status, json }: { status: number; json: Json }) => [
  status,
  json.error.code,
  json.error.message,
  json.error.details,
];

test('a guest gets the same response for the external id of a hidden issue, of a visible issue and of no issue', async () => {
  await create('/issues', { team: 'ENG', title: 'Seen', externalSource: 'jira', externalId: 'PRJ-2' });
  const before = await app.lastSequence();
  const ways = [
    (externalId: string) =>
      guest('POST', `${v1}/issues`, { team: 'ENG', title: 'G', externalSource: 'jira', externalId }),
    (externalId: string) =>
      guest('POST', `${v1}/issues/bulk`, {
        issues: [{ team: 'ENG', title: 'G', externalSource: 'jira', externalId }],
      }),
  ];
  for (const way of ways) {
    const taken = await way('PRJ-1');
    expect(answer(taken).slice(0, 2)).toEqual([409, 'conflict']);
    expect(taken.text).not.toContain(hidden.id);
    for (const other of ['PRJ-2', 'PRJ-3']) expect(answer(await way(other))).toEqual(answer(taken));
  }
  const put = (externalId: string) =>
    guest('PUT', `${v1}/issues/external/jira/${externalId}`, { team: 'ENG', title: 'G' });
  expect(answer(await put('PRJ-1')).slice(0, 2)).toEqual([409, 'conflict']);
  expect(answer(await put('PRJ-3'))).toEqual(answer(await put('PRJ-1')));
  const guarded = (externalId: string) =>
    guest('PUT', `${v1}/issues/external/jira/${externalId}`, { title: 'G' }, { 'if-match': '"1"' });
  expect(answer(await guarded('PRJ-3'))).toEqual(answer(await guarded('PRJ-1')));
  expect(await app.eventTypes(before)).toEqual([]);
});

test('a guest updates a visible issue by its external id, and cannot take an issue from a sync', async () => {
  const path = `${v1}/issues/external/jira/PRJ-2`;
  expect((await guest('PUT', path, { title: 'Changed' })).status).toBe(200);
  const synced = await app.call('PUT', `${v1}/issues/external/jira/PRJ-3`, { team: 'OUT', title: 'Synced' });
  expect(synced.status).toBe(201);
});

test('a taken external id is a conflict that names no issue, for every caller', async () => {
  const own = await app.call('POST', `${v1}/issues`, { team: 'ENG', title: 'Twice', ...external });
  expect(answer(own).slice(0, 2)).toEqual([409, 'conflict']);
  expect(own.text).not.toContain(hidden.id);
  const rights = rightsBut({
    'issues:write': { where: { team: ['ENG'] } },
    'issues:read': { where: { team: ['ENG'] } },
  });
  for (const [method, at, body] of [
    ['POST', '/issues', { team: 'ENG', title: 'Twice', ...external }],
    ['PUT', '/issues/external/jira/PRJ-1', { team: 'ENG', title: 'Twice' }],
  ] as const) {
    const narrowed = await askAs(app, rights, method, v1 + at, body, null);
    expect([narrowed.status, narrowed.code, narrowed.text.includes(hidden.id)]).toEqual([
      409,
      'conflict',
      false,
    ]);
  }
  const free = { team: 'ENG', title: 'Free', externalSource: 'jira', externalId: 'PRJ-9' };
  expect((await askAs(app, rights, 'POST', `${v1}/issues`, free, null)).status).toBe(201);
});

test('no request shows a guest the state that a moved issue had in the hidden team', async () => {
  const at = `${v1}/issues/${moved.id}`;
  const moment = '2026-11-20T12:00:00.000Z';
  const paths = [
    '/trail',
    '/trail?limit=1',
    ...['title', 'team', 'identifier', 'state', 'priority'].map((field) => `/trail?field=${field}`),
    '/history',
    `?asOf=${moment}`,
  ];
  for (const path of paths) {
    const { text } = await guest('GET', at + path);
    expect([path, text.match(/canary|\bOUT\b|OUT-\d+/g)]).toEqual([path, null]);
  }
  for (const { id } of (await app.call('GET', `${at}/history`)).json.data.slice(0, 2))
    for (const path of paths)
      expect([path, (await guest('GET', at + path)).text.includes(id)]).toEqual([path, false]);
});

test('events of an issue in a hidden team do not reach a guest after the issue moves to a visible team', async () => {
  const { id: guestId } = (await guest('GET', `${v1}/me`)).json.member;
  const [out] = (await app.call('GET', `${v1}/workflows?limit=100`)).json.data.filter(
    ({ name }: Json) => name === 'canary state',
  );
  const mention = `canary words @${guestId}`;
  const issueFields = { team: 'OUT', title: 'canary title', stateId: out.id, assigneeId: guestId };
  const { id } = await create('/issues', { ...issueFields, description: mention });
  const comment = await create(`/issues/${id}/comments`, { body: mention });
  await app.call('PATCH', `${v1}/issues/${id}`, { title: 'Shown', description: '', dueDate: '2026-12-01' });
  await app.call('DELETE', `${v1}/comments/${comment.id}`);
  await app.settled();
  await app.call('POST', `${v1}/issues/${id}/move`, { team: 'ENG' });
  await app.call('PATCH', `${v1}/issues/${id}`, { priority: 'urgent' });
  await app.settled();
  const comments = `/issues/${id}/comments`;
  for (const path of [
    ...['/inbox?limit=100', '/events?limit=100', '/events?limit=100&types=inbox.*', '/search?q=canary'],
    ...[comments, `${comments}?deleted=only`, `${comments}?deleted=include`],
  ]) {
    const { status, text } = await guest('GET', v1 + path);
    expect([path, status, text.match(/canary|\bOUT\b|OUT-\d+/g)]).toEqual([path, 200, null]);
  }
  const titles = (await guest('GET', `${v1}/inbox`)).json.data.map(({ title }: Json) => title);
  expect(titles).toEqual([expect.stringContaining('priority none → urgent')]);
});

test('the trail shows a guest the events of their team, and a member all events', async () => {
  const at = `${v1}/issues/${moved.id}/trail`;
  const { json: seen } = await guest('GET', at);
  const nodes: Json[] = seen.data.flatMap(({ nodes: some }: Json) => some);
  expect(nodes.map(({ type }) => type)).toEqual(['issue.updated', expect.stringMatching(/^issue\./)]);
  expect(nodes[0].fields).toMatchObject([{ field: 'priority', from: 'high', to: 'low' }]);
  const { text } = await app.call('GET', at);
  expect(text).toContain('canary before');
  const { json: set } = await guest('GET', `${at}?field=title`);
  expect([set.data, set.pageInfo.setBy]).toEqual([[], { field: 'title', eventId: null, chain: [] }]);
});

test('an identifier of a hidden team finds nothing for a guest, also after its issue moved to a visible team', async () => {
  const none = await guest('GET', `${v1}/issues/OUT-99`);
  const former = await guest('GET', `${v1}/issues/${moved.identifier}`);
  expect([former.status, former.json.error.message]).toEqual([404, none.json.error.message]);
  expect((await guest('GET', `${v1}/issues/${moved.now}`)).status).toBe(200);
  expect((await app.call('GET', `${v1}/issues/${moved.identifier}`)).json.id).toBe(moved.id);
});
