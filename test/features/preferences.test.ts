// Preferences and favorites: each member has their own, and a favorite shows its object only while the member may see it.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { v1 } from './people.ts';

const scopes = [
  ...['preferences:write', 'issues:write', 'views:write', 'boards:write', 'projects:write', 'cycles:write'],
  ...['releases:write', 'events:read'],
];
let app: TestApp;
let ana: Client;
let ben: Client;
const ids: Record<string, string> = {};

beforeAll(async () => {
  app = await startApp();
  [ana, ben] = [await join('Ana'), await join('Ben')];
});
afterAll(() => app.stop());
beforeEach(async () => {
  for (const call of [ana, ben])
    for (const { id } of await listOf(call)) await call('DELETE', `${v1}/favorites/${id}`);
});

async function join(name: string, role = 'member', only = scopes, more = {}): Promise<Client> {
  const { json: member } = await app.call('POST', `${v1}/members`, { name, role, ...more });
  ids[name] = member.id;
  return keyOf(member.id, only);
}

async function keyOf(memberId: string, only: readonly string[]): Promise<Client> {
  const key = await app.call('POST', `${v1}/api-keys`, { name: 'a key', scopes: only, memberId });
  return app.clientOf(key.json.key);
}

const make = async (path: string, body: object, call: Client = app.call): Promise<Json> => {
  const { status, json } = await call('POST', `${v1}${path}`, body);
  expect([status, json]).toMatchObject([201, {}]);
  return json;
};
const file = (title: string): Promise<Json> => make('/issues', { team: 'ENG', title });
const add = (call: Client, type: string, targetId: string, more = {}) =>
  call('POST', `${v1}/favorites`, { type, targetId, ...more });
const listOf = async (call: Client, query = ''): Promise<Json[]> =>
  (await call('GET', `${v1}/favorites?limit=100${query}`)).json.data;
const titlesOf = async (call: Client): Promise<string[]> => (await listOf(call)).map(({ title }) => title);

const defaults = {
  theme: 'system',
  density: 'comfortable',
  singleKeyShortcuts: true,
  startPage: 'my_issues',
};

test('preferences have defaults, are replaced as a whole, and belong to one member', async () => {
  expect((await ana('GET', `${v1}/me/preferences`)).json).toEqual(defaults);
  const from = await app.lastSequence();
  await ana('PUT', `${v1}/me/preferences`, {});
  const dark = { ...defaults, theme: 'dark', singleKeyShortcuts: false };
  const { status, json } = await ana('PUT', `${v1}/me/preferences`, {
    theme: 'dark',
    singleKeyShortcuts: false,
  });
  expect([status, json]).toEqual([200, dark]);
  expect((await ana('GET', `${v1}/me/preferences`)).json).toEqual(dark);
  expect((await ben('GET', `${v1}/me/preferences`)).json).toEqual(defaults);
  await ana('PUT', `${v1}/me/preferences`, { theme: 'dark', singleKeyShortcuts: false });
  expect((await ana('PUT', `${v1}/me/preferences`, { startPage: 'inbox' })).json).toEqual({
    ...defaults,
    startPage: 'inbox',
  });
  expect(await app.eventTypes(from)).toEqual(['preferences.updated', 'preferences.updated']);
  await ana('PUT', `${v1}/me/preferences`, {});
});

test('an unknown preference or value is rejected, and changes nothing', async () => {
  for (const body of [{ theme: 'blue' }, { theme: null }, { singleKeyShortcuts: 'no' }, { font: 'mono' }])
    expect((await ana('PUT', `${v1}/me/preferences`, body)).status).toBe(422);
  expect((await ana('GET', `${v1}/me/preferences`)).json).toEqual(defaults);
});

test('every type of object becomes a favorite once, and shows its title and page', async () => {
  const issue = await file('The save dialog crashes');
  const pipeline = await make('/pipelines', { name: 'Editor' });
  const cycle = {
    team: 'ENG',
    name: 'Spring',
    startsAt: '2031-01-06T00:00:00Z',
    endsAt: '2031-01-20T00:00:00Z',
  };
  const targets = [
    ['issue', issue],
    ['view', await make('/views', { name: 'Urgent', visibility: 'shared' })],
    ['board', await make('/boards', { name: 'Work' })],
    ['project', await make('/projects', { name: 'Launch' })],
    ['cycle', await make('/cycles', cycle)],
    ['release', await make('/releases', { name: 'Two', tag: '2.0', pipelineId: pipeline.id })],
  ] as const;
  const from = await app.lastSequence();
  for (const [type, { id }] of targets) expect((await add(ana, type, id)).status).toBe(201);
  const again = await add(ana, 'issue', issue.identifier.toLowerCase());
  expect([again.status, again.json.title]).toEqual([200, 'The save dialog crashes']);
  expect(await app.eventTypes(from)).toEqual(targets.map(() => 'preferences.favorite_added'));
  expect(await listOf(ana)).toMatchObject(
    targets.map(([type, { id, url, title, name, identifier = null }], position) => ({
      ...{ type, targetId: id, title: title ?? name, identifier, url, position },
      member: { id: ids.Ana, name: 'Ana' },
    })),
  );
  expect(await listOf(ana, '&type=board')).toMatchObject([{ title: 'Work' }]);
  const { headers, json } = await add(ben, 'issue', issue.id);
  expect((await ben('GET', new URL(headers.get('location')!).pathname)).json).toEqual(json);
});

test('concurrent requests for one object create one favorite', async () => {
  const { id } = await file('Twice');
  const replies = await Promise.all(Array.from({ length: 8 }, () => add(ana, 'issue', id)));
  expect(replies.map(({ status }) => status).toSorted()).toEqual([...Array(7).fill(200), 201]);
  expect(await titlesOf(ana)).toEqual(['Twice']);
});

test('favorites are last when added, move between others, and can be removed and added again', async () => {
  const from = await app.lastSequence();
  const added: Json[] = [];
  for (const title of ['One', 'Two', 'Three'])
    added.push((await add(ana, 'issue', (await file(title)).id)).json);
  const [one, , three] = added;
  const moved = await ana('PATCH', `${v1}/favorites/${three.id}`, { position: 0.5 });
  expect(moved.json).toMatchObject({ title: 'Three', position: 0.5, version: 2 });
  expect(await titlesOf(ana)).toEqual(['One', 'Three', 'Two']);
  await ana('PATCH', `${v1}/favorites/${three.id}`, { position: -1 });
  expect(await titlesOf(ana)).toEqual(['Three', 'One', 'Two']);
  expect((await ana('DELETE', `${v1}/favorites/${one.id}`)).status).toBe(204);
  expect((await ana('GET', `${v1}/favorites/${one.id}`)).status).toBe(404);
  expect((await add(ana, 'issue', one.targetId)).json).toMatchObject({
    id: one.id,
    title: 'One',
    position: 2,
  });
  expect(await titlesOf(ana)).toEqual(['Three', 'Two', 'One']);
  expect((await app.eventTypes(from)).filter((type) => type.startsWith('preferences.'))).toEqual([
    ...Array(3).fill('preferences.favorite_added'),
    'preferences.favorite_moved',
    'preferences.favorite_moved',
    'preferences.favorite_removed',
    'preferences.favorite_added',
  ]);
});

test('favorites of other members do not exist', async () => {
  const favorite = (await add(ana, 'issue', (await file('Of Ana')).id)).json;
  const one = `${v1}/favorites/${favorite.id}`;
  for (const call of [ben, app.call]) {
    expect((await call('GET', one)).status).toBe(404);
    expect((await call('PATCH', one, { position: 9 })).status).toBe(404);
    expect((await call('DELETE', one)).status).toBe(404);
    expect(await listOf(call)).toEqual([]);
  }
  const events = async (call: Client): Promise<Json[]> =>
    (await call('GET', `${v1}/events?types=preferences.*&limit=100`)).json.data;
  expect((await events(ben)).filter(({ entityId }) => entityId === favorite.id)).toEqual([]);
  const [last] = (await events(ana)).slice(-1);
  expect([last.data.targetId, last.data.title]).toEqual([favorite.targetId, null]);
  expect(JSON.stringify(last)).not.toContain('Of Ana');
});

const hidden = { title: null, identifier: null, url: null };

test('a favorite of a deleted object keeps no title, and shows it again after a restore', async () => {
  const issue = await file('Deleted secret');
  const favorite = (await add(ana, 'issue', issue.id)).json;
  await app.call('DELETE', `${v1}/issues/${issue.id}`);
  const list = await ana('GET', `${v1}/favorites`);
  expect(list.json.data).toMatchObject([{ targetId: issue.id, ...hidden }]);
  const one = await ana('GET', `${v1}/favorites/${favorite.id}`);
  const moved = await ana('PATCH', `${v1}/favorites/${favorite.id}`, { position: 7 });
  for (const { status, json, text } of [one, moved]) {
    expect([status, json]).toMatchObject([200, hidden]);
    expect(text).not.toContain('Deleted secret');
  }
  await app.call('POST', `${v1}/issues/${issue.id}/restore`);
  expect(await titlesOf(ana)).toEqual(['Deleted secret']);
});

test('a view that becomes personal hides its name from the favorites of others', async () => {
  const view = await make('/views', { name: 'Private plans', visibility: 'shared' }, ben);
  for (const call of [ana, ben]) await add(call, 'view', view.id);
  expect((await ben('PATCH', `${v1}/views/${view.id}`, { visibility: 'personal' })).status).toBe(200);
  expect(await listOf(ana)).toMatchObject([{ targetId: view.id, ...hidden }]);
  expect(await titlesOf(ben)).toEqual(['Private plans']);
  const { status, json } = await add(await join('Cleo'), 'view', view.id);
  expect([status, json.error.details]).toMatchObject([422, [{ path: 'targetId', issue: 'not_found' }]]);
});

test('a guest sees favorites of their teams only, also after an issue moved away', async () => {
  await make('/teams', { key: 'OPS', name: 'Ops' });
  const guest = await join('Gil', 'guest', ['preferences:write', 'issues:read', 'boards:read'], {
    teams: ['ENG'],
  });
  const [issue, board] = [await file('Moves away'), await make('/boards', { name: 'Ops', team: 'OPS' })];
  expect((await add(guest, 'issue', issue.identifier)).status).toBe(201);
  expect((await add(guest, 'board', board.id)).status).toBe(422);
  expect(await titlesOf(guest)).toEqual(['Moves away']);
  await app.call('POST', `${v1}/issues/${issue.id}/move`, { team: 'OPS' });
  expect(await listOf(guest)).toMatchObject([{ targetId: issue.id, ...hidden }]);
  expect((await add(guest, 'issue', issue.id)).status).toBe(422);
});

test('a key without the scope of the object sees no title and adds no favorite of it', async () => {
  const issue = await file('Outside of the key');
  await add(ana, 'issue', issue.id);
  const narrow = await keyOf(ids.Ana!, ['preferences:write']);
  expect(await listOf(narrow)).toMatchObject([{ targetId: issue.id, ...hidden }]);
  expect((await add(narrow, 'issue', issue.id)).status).toBe(422);
  const without = await keyOf(ids.Ana!, ['issues:read']);
  expect((await without('GET', `${v1}/favorites`)).json.error.code).toBe('insufficient_scope');
  expect((await without('PUT', `${v1}/me/preferences`, {})).json.error.code).toBe('insufficient_scope');
});

test('a member has at most 100 favorites, also with concurrent requests, and removing one frees its slot', async () => {
  const issues: Json[] = [];
  for (let n = 0; n < 103; n++) issues.push(await file(`Number ${n}`));
  for (const { id } of issues.slice(0, 98)) expect((await add(ana, 'issue', id)).status).toBe(201);
  // Without a position, each addition waits for the order that the one before it changed.
  const replies = await Promise.all(
    issues.slice(98).map(({ id }, n) => add(ana, 'issue', id, { position: 200 + n })),
  );
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(2);
  for (const { status, json } of replies.filter(({ status }) => status !== 201))
    expect([status, json.error]).toMatchObject([
      409,
      { code: 'conflict', message: 'A member has at most 100 favorites. Remove one first.' },
    ]);
  const [first] = await listOf(ana);
  expect((await add(ana, 'issue', first.targetId)).status).toBe(200);
  await ana('DELETE', `${v1}/favorites/${first.id}`);
  expect((await add(ana, 'issue', first.targetId)).status).toBe(201);
  expect((await add(ben, 'issue', first.targetId)).status).toBe(201);
});

test('a removed member loses access, and the favorites of the others remain', async () => {
  const dan = await join('Dan');
  const { id } = await file('Shared by two');
  for (const call of [ana, dan]) await add(call, 'issue', id);
  await app.call('DELETE', `${v1}/members/${ids.Dan}`);
  expect((await dan('GET', `${v1}/favorites`)).status).toBe(401);
  expect(await titlesOf(ana)).toEqual(['Shared by two']);
});
