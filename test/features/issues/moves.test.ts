import { afterAll, beforeAll, expect, test } from 'bun:test';
import { packSource } from '../plugins/pack.ts';
import { startApp, type Json, type Reply, type TestApp } from '../../app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  for (const key of ['OPS', 'SUP']) await app.call('POST', '/api/v1/teams', { key, name: key });
});
afterAll(() => app.stop());

const post = async (path: string, body: object): Promise<Json> =>
  (await app.call('POST', `/api/v1${path}`, body)).json;
const make = (more: object = {}): Promise<Json> => post('/issues', { team: 'ENG', title: 'Moving', ...more });
const get = async (id: string): Promise<Json> => (await app.call('GET', `/api/v1/issues/${id}`)).json;
const move = (id: string, body: object, headers = {}): Promise<Reply> =>
  app.call('POST', `/api/v1/issues/${id}/move`, body, headers);
const statesOf = async (team: string): Promise<Json[]> =>
  (await app.call('GET', `/api/v1/workflows?team=${team}`)).json.data;
const eventsAfter = async (after: number): Promise<Json[]> =>
  (await app.call('GET', `/api/v1/events?limit=100&after=${after}`)).json.data;

test('a moved issue gets a number of its new team, and its old identifier is accepted everywhere', async () => {
  const issue = await make();
  const child = await make({ parentId: issue.id });
  await post(`/issues/${issue.id}/comments`, { body: 'Here.' });
  const from = await app.lastSequence();
  const { status, json, headers } = await move(issue.identifier, { team: 'ops' });
  expect(status).toBe(200);
  expect(json).toMatchObject({
    id: issue.id,
    identifier: `OPS-${json.number}`,
    team: { key: 'OPS' },
    state: { type: 'backlog' },
    version: 2,
  });
  expect(json.url).toEndWith(`/issues/OPS-${json.number}`);
  expect(headers.get('etag')).toStartWith('"2-');
  for (const name of [issue.identifier, issue.identifier.toLowerCase(), json.identifier, issue.id])
    expect(await get(name)).toEqual(json);
  expect((await get(child.id)).parent).toEqual({ id: issue.id, identifier: json.identifier });
  expect((await make({ parentId: issue.identifier })).id).toBeString();
  const filter = encodeURIComponent(JSON.stringify({ identifier: issue.identifier }));
  expect((await app.call('GET', `/api/v1/issues?filter=${filter}`)).json.data).toEqual([json]);
  const bulk = await post('/issues/bulk-update', {
    ids: [issue.identifier, json.identifier],
    set: { priority: 'low' },
  });
  expect(bulk.data.map(({ identifier }: Json) => identifier)).toEqual([json.identifier]);
  const comments = (await app.call('GET', `/api/v1/issues/${issue.identifier}/comments`)).json.data;
  expect(comments[0].issue).toEqual({ id: issue.id, identifier: json.identifier });
  const events = await eventsAfter(from);
  expect(events.slice(0, 3).map(({ type }) => type)).toEqual([
    'issue.updated',
    'issue.moved',
    'issue.state_changed',
  ]);
  expect(events[1].data).toEqual({ ...json, previous: events[0].data.previous });
  expect(events[1].data.previous).toMatchObject({
    identifier: issue.identifier,
    team: { key: 'ENG' },
  });
});

test('identifiers are never reused, also after the issue returns or is purged', async () => {
  const issue = await make();
  const moved = (await move(issue.id, { team: 'OPS' })).json;
  const back = (await move(issue.id, { team: 'ENG' })).json;
  expect(back.number).toBeGreaterThan(Number(issue.identifier.slice(4)));
  for (const name of [issue.identifier, moved.identifier, back.identifier])
    expect((await get(name)).identifier).toBe(back.identifier);
  const next = await make();
  expect(next.identifier).toBe(`ENG-${back.number + 1}`);
  await app.call('DELETE', `/api/v1/issues/${issue.id}`);
  expect((await app.call('GET', `/api/v1/issues/${issue.identifier}`)).status).toBe(404);
  expect((await app.call('POST', `/api/v1/issues/${issue.identifier}/purge`)).status).toBe(204);
  expect((await app.call('GET', `/api/v1/issues/${moved.identifier}`)).status).toBe(404);
});

test('states map by type and name, labels map by name, and values unknown to the other team are dropped', async () => {
  await post('/labels', { name: 'shared', team: 'ENG' });
  const twin = await post('/labels', { name: 'Shared', team: 'SUP' });
  await post('/labels', { name: 'of-eng', team: 'ENG' });
  const review = { name: 'Review', type: 'started' };
  const { id: stateId } = await post('/workflows', { team: 'ENG', ...review });
  const { id: there } = await post('/workflows', { team: 'SUP', ...review });
  const issue = await make({ labels: ['shared', 'of-eng', 'bug'], stateId });
  const { json } = await move(issue.id, { team: 'SUP' });
  expect(json.state).toEqual({ id: there, ...review });
  expect(json.labels.map(({ name }: Json) => name)).toEqual(['Shared', 'bug']);
  expect(json.labels[0].id).toBe(twin.id);
  const done = (await statesOf('OPS')).find(({ type }) => type === 'completed');
  expect((await move(issue.id, { team: 'OPS', stateId: done.id })).json.state.id).toBe(done.id);
  const refused = await move(issue.id, { team: 'SUP', stateId: done.id });
  expect([refused.status, refused.json.error.details[0].path]).toEqual([422, 'stateId']);
  expect((await move(issue.id, { team: 'NOPE' })).json.error.details[0].path).toBe('team');
  expect((await move(issue.id, {})).json.error.details[0].issue).toBe('required');
  const from = await app.lastSequence();
  expect((await move(issue.id, { team: 'OPS' })).status).toBe(200);
  expect(await app.eventTypes(from)).toEqual([]);
});

test('a dry-run move shows no number, and a repeated move returns the one it got', async () => {
  const issue = await make();
  const simulated = await move(issue.id, { team: 'OPS' }, { 'tatami-mode': 'simulate' });
  expect(simulated.json).toMatchObject({ identifier: null, url: null, team: { key: 'OPS' } });
  expect((await get(issue.id)).identifier).toBe(issue.identifier);
  const key = { 'idempotency-key': 'move-once' };
  const first = await move(issue.id, { team: 'OPS' }, key);
  await move(issue.id, { team: 'SUP' });
  const again = await move(issue.id, { team: 'OPS' }, key);
  expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
});

test('If-Match applies, and concurrent moves each get a unique number', async () => {
  const issue = await make();
  const stale = await move(issue.id, { team: 'OPS' }, { 'if-match': '"9"' });
  expect(stale.status).toBe(412);
  const issues = await Promise.all(Array.from({ length: 6 }, () => make()));
  const replies = await Promise.all(
    issues.flatMap(({ id }) => [
      move(id, { team: 'OPS' }),
      move(id, { team: 'SUP' }),
      app.call('POST', '/api/v1/issues', { team: 'OPS', title: 'Meanwhile' }),
    ]),
  );
  expect(replies.every(({ status }) => status === 200 || status === 201)).toBe(true);
  const identifiers = replies.map(({ json }) => json.identifier);
  expect(new Set(identifiers).size).toBe(identifiers.length);
  for (const [at, { id, identifier }] of issues.entries()) {
    const now = await get(id);
    expect(now.version).toBe(3);
    for (const name of [identifier, identifiers[at * 3], identifiers[at * 3 + 1]])
      expect((await get(name)).id).toBe(id);
  }
});

test('a grant limited to teams moves issues only between those teams', async () => {
  const source = (id: string, team: string, to: string) =>
    `{ id: '${id}', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:write': { why: 'test', where: { team: ['${team}', 'ENG'] } } },
      on: { 'issue.updated': { async handle(event, ctx) { if (event.data.priority === 'urgent') await ctx.issues.move(event.data.id, { team: '${to}' }); } } } }`;
  for (const [id, team] of [
    ['com.test.held', 'SUP'],
    ['com.test.free', 'OPS'],
  ] as const) {
    const issue = await make();
    const packed = await packSource(source(id, team, 'OPS'));
    const plugin = await post('/plugins', { package: packed, grant: ['issues:write'], probation: false });
    await app.call('PATCH', `/api/v1/issues/${issue.id}`, { priority: 'urgent' });
    await app.settled();
    expect([id, (await get(issue.id)).team.key]).toEqual([id, team === 'OPS' ? 'OPS' : 'ENG']);
    await app.call('DELETE', `/api/v1/plugins/${plugin.id}`);
  }
});

const reorder = (id: string, position: object): Promise<Reply> =>
  app.call('POST', `/api/v1/issues/${id}/reorder`, position);
const first = { position: 'top' };
const below = async (parent: string): Promise<string[]> =>
  (await app.call('GET', `/api/v1/issues?parent=${parent}&sort=subOrder&limit=100`)).json.data.map(
    ({ title }: Json) => title,
  );

test('sub-issues are ordered by creation until they are reordered', async () => {
  const parent = await make();
  await post('/issues/bulk', {
    issues: ['a', 'b', 'c'].map((title) => ({ team: 'ENG', title, parentId: parent.id })),
  });
  const other = await make({ title: 'd', team: 'OPS' });
  await app.call('PATCH', `/api/v1/issues/${other.id}`, { parentId: parent.identifier });
  expect(await below(parent.identifier)).toEqual(['a', 'b', 'c', 'd']);
  const all: Json[] = (await app.call('GET', `/api/v1/issues?parent=${parent.id}&sort=subOrder`)).json.data;
  const from = await app.lastSequence();
  const moved = await reorder(other.id, { after: all[0].identifier });
  expect([moved.status, moved.json.id]).toEqual([200, other.id]);
  expect(await below(parent.id)).toEqual(['a', 'd', 'b', 'c']);
  const [event] = await eventsAfter(from);
  expect([event.type, event.data.previous]).toEqual(['issue.updated', { subOrder: all[3].subOrder }]);
  expect((await app.lastSequence()) - from).toBe(1);
  await reorder(all[2].id, first);
  expect(await below(parent.id)).toEqual(['c', 'a', 'd', 'b']);
  await make({ title: 'e', parentId: parent.id });
  expect(await below(parent.id)).toEqual(['c', 'a', 'd', 'b', 'e']);
  await reorder(all[1].id, { before: all[0].identifier });
  expect(await below(parent.id)).toEqual(['c', 'b', 'a', 'd', 'e']);
  await reorder(all[0].id, { before: all[2].id });
  expect(await below(parent.id)).toEqual(['a', 'c', 'b', 'd', 'e']);
  await reorder(all[0].id, { position: 'bottom' });
  expect(await below(parent.id)).toEqual(['c', 'b', 'd', 'e', 'a']);
});

test('only sub-issues of the same parent are accepted as neighbors', async () => {
  const [parent, stranger] = [await make(), await make()];
  const child = await make({ parentId: parent.id });
  expect((await reorder(stranger.id, first)).status).toBe(409);
  for (const by of ['before', 'after'])
    for (const other of [stranger.id, child.id, 'ENG-99999'])
      expect((await reorder(child.id, { [by]: other })).json.error.details[0].path).toBe(by);
  const refused = async (position: object): Promise<Json> => {
    const { path, issue } = (await reorder(child.id, position)).json.error.details[0];
    return [path, issue];
  };
  expect(await refused({})).toEqual(['position', 'required']);
  expect(await refused({ ...first, after: child.id })).toEqual(['position', 'conflict']);
  const { json } = await app.call('PATCH', `/api/v1/issues/${child.id}`, { parentId: null });
  expect([json.parent, json.subOrder]).toEqual([null, null]);
});

test('concurrent reorders lose no issue, and one gap holds all insertions', async () => {
  const parent = await make();
  const titles = Array.from({ length: 12 }, (_, at) => `Sub ${at}`);
  await post('/issues/bulk', {
    issues: titles.map((title) => ({ team: 'ENG', title, parentId: parent.id })),
  });
  const all: Json[] = (await app.call('GET', `/api/v1/issues?parent=${parent.id}&sort=subOrder`)).json.data;
  const [front, ...others] = all;
  for (let round = 0; round < 3; round++) {
    const replies = await Promise.all(others.map(({ id }) => reorder(id, { after: front.id })));
    expect(replies.map(({ status }) => status)).toEqual(others.map(() => 200));
    const order = await below(parent.id);
    expect([...order].sort()).toEqual([...titles].sort());
    expect(order[0]).toBe('Sub 0');
  }
  const order = await below(parent.id);
  const at = (title: string): string => all.find((one) => one.title === title).id;
  await reorder(at(order[11]!), { after: at(order[5]!) });
  expect(await below(parent.id)).toEqual([...order.slice(0, 6), order[11]!, ...order.slice(6, 11)]);
});

test.if(process.env.TATAMI_LONG === '1')('an exhausted gap between ranks is widened', async () => {
  const parent = await make();
  const [a, b, c] = [
    await make({ parentId: parent.id, title: 'a' }),
    await make({ parentId: parent.id, title: 'b' }),
    await make({ parentId: parent.id, title: 'c' }),
  ];
  for (let round = 0; round < 320; round++) await reorder(round % 2 === 0 ? c.id : b.id, { after: a.id });
  expect(await below(parent.id)).toEqual(['a', 'b', 'c']);
  const ranks: string[] = (
    await app.call('GET', `/api/v1/issues?parent=${parent.id}&sort=subOrder`)
  ).json.data.map(({ subOrder }: Json) => subOrder);
  expect(Math.max(...ranks.map(({ length }) => length))).toBeLessThanOrEqual(64);
  expect(ranks).toEqual([...ranks].sort());
});
