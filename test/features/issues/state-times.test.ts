import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';

const v1 = '/api/v1';
let app: TestApp;
/** State id by type, and by `TEAM type`. */
const states: Record<string, string> = {};

beforeAll(async () => {
  app = await startApp();
  for (const key of ['OPS', 'SUP']) await post('/teams', { key, name: key });
  for (const { id, type, team } of (await get('/workflows?limit=100')).data) {
    states[`${team} ${type}`] = id;
    if (team === 'ENG') states[type] = id;
  }
});
afterAll(() => app.stop());

const get = async (path: string): Promise<Json> => (await app.call('GET', v1 + path)).json;
async function send(method: string, path: string, body?: object, headers?: Record<string, string>) {
  app.clock.advance(60_000);
  const { status, json } = await app.call(method, v1 + path, body, headers);
  expect({ path, status: status < 300, error: json?.error }).toEqual({
    path,
    status: true,
    error: undefined,
  });
  return json;
}
const post = (path: string, body?: object, headers?: Record<string, string>): Promise<Json> =>
  send('POST', path, body, headers);
const make = (body: object = {}): Promise<Json> => post('/issues', { team: 'ENG', title: 'Timed', ...body });
const now = (): string => new Date(app.clock.nowMs()).toISOString();
const timesOf = ({ startedAt, completedAt, canceledAt }: Json): Json => ({
  startedAt,
  completedAt,
  canceledAt,
});
const none = { startedAt: null, completedAt: null, canceledAt: null };
/** Expects the same times in the response, the last event of the issue, a list and the search. */
async function expectTimes(id: string, times: object): Promise<void> {
  expect(timesOf(await get(`/issues/${id}`))).toEqual({ ...none, ...times });
  const { data } = await get(`/issues/${id}/history?limit=100`);
  const last = data.findLast(({ type }: Json) => /^issue\.(created|updated|restored)$/.test(type));
  expect(timesOf(last.data)).toEqual({ ...none, ...times });
}

test('an issue created in a state has the times of that state', async () => {
  await expectTimes((await make()).id, none);
  await expectTimes((await make({ stateId: states.started })).id, { startedAt: now() });
  await expectTimes((await make({ stateId: states.completed })).id, { completedAt: now() });
  await expectTimes((await make({ stateId: states.canceled })).id, { canceledAt: now() });
  await expectTimes((await make({ stateId: states.duplicate })).id, { canceledAt: now() });
});

test('the first start is retained until the issue moves back, and a reopened issue is neither completed nor canceled', async () => {
  const { id: review } = await post('/workflows', { team: 'ENG', name: 'Review', type: 'started' });
  const { id: released } = await post('/workflows', { team: 'ENG', name: 'Released', type: 'completed' });
  const { id } = await make();
  const go = async (stateId: string): Promise<string> => {
    await send('PATCH', `/issues/${id}`, { stateId });
    return now();
  };
  const startedAt = await go(states.started!);
  await go(review);
  await expectTimes(id, { startedAt });
  const completedAt = await go(states.completed!);
  await go(released);
  await expectTimes(id, { startedAt, completedAt });
  const canceledAt = await go(states.canceled!);
  await expectTimes(id, { startedAt, canceledAt });
  await go(review);
  await expectTimes(id, { startedAt });
  await go(states.unstarted!);
  await expectTimes(id, none);
  const again = await go(states.started!);
  expect(again > startedAt).toBe(true);
  await expectTimes(id, { startedAt: again });
  await send('PATCH', `/issues/${id}`, { title: 'Still' });
  await expectTimes(id, { startedAt: again });
});

test('bulk updates, card moves, team moves, duplicates, triage and upserts set the times', async () => {
  const ids = [(await make()).id, (await make()).id];
  await post('/issues/bulk-update', { ids, set: { stateId: states.completed } });
  for (const id of ids) await expectTimes(id, { completedAt: now() });

  const board = await post('/boards', { name: 'Times', team: 'ENG', groupBy: 'stateType' });
  await post(`/boards/${board.id}/move`, { issueId: ids[0], column: 'started' });
  const startedAt = now();
  await expectTimes(ids[0]!, { startedAt });

  await post(`/issues/${ids[0]}/move`, { team: 'OPS' });
  await expectTimes(ids[0]!, { startedAt });
  await post(`/issues/${ids[0]}/move`, { team: 'SUP', stateId: states['SUP completed'] });
  await expectTimes(ids[0]!, { startedAt, completedAt: now() });

  await post(`/issues/${(await make({ stateId: states.started })).id}/relations`, {
    type: 'duplicated_by',
    issueId: ids[1],
  });
  await expectTimes(ids[1]!, { canceledAt: now() });

  const triaged = await make({ stateId: states.triage });
  await post(`/issues/${triaged.id}/triage/decline`, {});
  await expectTimes(triaged.id, { canceledAt: now() });
  const accepted = await make({ stateId: states.triage });
  await post(`/issues/${accepted.id}/triage/accept`, { stateId: states.started });
  await expectTimes(accepted.id, { startedAt: now() });

  const path = '/issues/external/jira/T-1';
  const { id } = await send('PUT', path, { team: 'ENG', title: 'Synced', stateId: states.completed });
  await expectTimes(id, { completedAt: now() });
  await send('PUT', path, { title: 'Synced', stateId: states.backlog });
  await expectTimes(id, none);
});

test('a restored issue retains its times, or follows the state it falls back to', async () => {
  const { id: shipped } = await post('/workflows', { team: 'ENG', name: 'Shipped', type: 'completed' });
  const { id } = await make({ stateId: shipped });
  const completedAt = now();
  for (const times of [{ completedAt }, {}]) {
    await send('DELETE', `/issues/${id}`);
    if (!('completedAt' in times)) await send('DELETE', `/workflows/${shipped}`);
    await post(`/issues/${id}/restore`);
    await expectTimes(id, times);
  }
});

test('an approved change sets the times at approval, and its undo restores the earlier ones', async () => {
  const { id } = await make({ stateId: states.completed });
  const completedAt = now();
  const { id: memberId } = await post('/members', { name: 'Ada', email: 'ada@acme.example' });
  const scopes = ['issues:read', 'proposals:write'];
  const agent = app.clientOf((await post('/api-keys', { name: 'agent', memberId, scopes })).key);
  const mode = { 'tatami-mode': 'propose' };
  const { json } = await agent('PATCH', `${v1}/issues/${id}`, { stateId: states.started }, mode);
  await expectTimes(id, { completedAt });
  await post(`/proposals/${json.id}/approve`);
  const startedAt = now();
  await expectTimes(id, { startedAt });
  const undone = await post(`/proposals/${json.id}/undo`);
  expect(undone.skipped).toEqual([]);
  await expectTimes(id, { completedAt });
  await post(`/undos/${undone.id}/undo`);
  await expectTimes(id, { startedAt });
});

test('lists filter and sort by the times, fields and past reads show them, and they are read-only', async () => {
  const { id, identifier } = await make({ stateId: states.completed, priority: 'urgent' });
  const completedAt = now();
  const sequence = await app.lastSequence();
  await send('PATCH', `/issues/${id}`, { stateId: states.backlog });
  expect(timesOf(await get(`/issues/${identifier}?asOf=${sequence}`))).toEqual({ ...none, completedAt });
  const filter = encodeURIComponent(JSON.stringify({ completedAt: { gte: completedAt } }));
  const listed = async (query: string): Promise<string[]> =>
    (await get(`/issues?limit=100&fields=completedAt&${query}`)).data.map((one: Json) => one.completedAt);
  expect(await listed(`filter=${filter}`)).toEqual([]);
  expect(await listed(`filter=${filter}&asOf=${sequence}`)).toEqual([completedAt]);
  const [up, down] = [await listed('sort=completedAt'), await listed('sort=-completedAt')];
  const there = up.filter((value) => value !== null);
  expect(there.length).toBeGreaterThan(1);
  expect(up.slice(0, there.length)).toEqual(there.toSorted());
  expect(down.slice(0, there.length)).toEqual(there.toSorted().toReversed());
  for (const name of Object.keys(none)) {
    const { status, json } = await app.call('PATCH', `${v1}/issues/${id}`, { [name]: completedAt });
    expect([name, status, json.error.details[0].issue]).toEqual([name, 422, 'unknown_field']);
  }
});

test('an import sets the times allowed by the state, and omitted ones are unknown', async () => {
  const createdAt = '2026-01-01T00:00:00.000Z';
  const [startedAt, endedAt] = ['2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'];
  const done = await make({ createdAt, startedAt, completedAt: endedAt, stateId: states.completed });
  await expectTimes(done.id, { startedAt, completedAt: endedAt });
  await expectTimes((await make({ createdAt, stateId: states.completed })).id, none);
  await expectTimes((await make({ canceledAt: endedAt, stateId: states.canceled })).id, {
    canceledAt: endedAt,
  });
  const refused = async (body: object): Promise<Json> => {
    const { status, json } = await app.call('POST', `${v1}/issues`, { team: 'ENG', title: 'Timed', ...body });
    return [status, json.error.details[0]?.path ?? json.error.code, json.error.details[0]?.issue];
  };
  expect(await refused({ completedAt: endedAt })).toEqual([422, 'completedAt', 'conflict']);
  expect(await refused({ startedAt, stateId: states.unstarted })).toEqual([422, 'startedAt', 'conflict']);
  expect(await refused({ completedAt: '2040-01-01T00:00:00Z', stateId: states.completed })).toEqual([
    422,
    'completedAt',
    'too_big',
  ]);
  for (const [type, times, path, other] of [
    ['completed', { createdAt, startedAt: endedAt, completedAt: startedAt }, 'completedAt', 'startedAt'],
    ['canceled', { startedAt: endedAt, canceledAt: startedAt }, 'canceledAt', 'startedAt'],
    ['completed', { createdAt: endedAt, completedAt: startedAt }, 'completedAt', 'createdAt'],
    ['duplicate', { createdAt: endedAt, canceledAt: startedAt }, 'canceledAt', 'createdAt'],
    ['started', { createdAt: endedAt, startedAt }, 'startedAt', 'createdAt'],
  ] as const) {
    const contradicting = { team: 'ENG', title: 'Timed', stateId: states[type], ...times };
    const issues = [{ team: 'ENG', title: 'Fine' }, contradicting];
    for (const [at, route, body] of [
      ['', '/issues', contradicting],
      ['issues.1.', '/issues/bulk', { issues }],
    ] as const) {
      const { status, json } = await app.call('POST', v1 + route, body);
      expect([status, json.error?.details]).toMatchObject([422, [{ path: at + path, issue: 'too_small' }]]);
      expect(json.error.message).toContain(`before \`${other}\``);
    }
  }
  const atOnce = { createdAt, startedAt: createdAt, completedAt: createdAt };
  await expectTimes((await make({ ...atOnce, stateId: states.completed })).id, {
    startedAt: createdAt,
    completedAt: createdAt,
  });
  const plain = app.clientOf(await app.mintKey(['issues:read', 'issues:write']));
  const body = { team: 'ENG', title: 'Timed', completedAt: endedAt, stateId: states.completed };
  const { status, json } = await plain('POST', `${v1}/issues`, body);
  expect([status, json.error.code]).toEqual([403, 'insufficient_scope']);
});
