import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type Reply, type TestApp } from '../../app.ts';
import { join } from '../people.ts';

const v1 = '/api/v1';
const dayMs = 86_400_000;
let app: TestApp;
let ops: Json;

beforeAll(async () => {
  app = await startApp();
  ops = await create('/teams', { key: 'OPS', name: 'Operations' });
});
afterAll(() => app.stop());

const send = (method: string, path: string, body?: unknown): Promise<Reply> =>
  app.call(method, v1 + path, body);
const get = async (path: string): Promise<Json> => (await send('GET', path)).json;
async function create(path: string, body: object): Promise<Json> {
  const { status, json } = await send('POST', path, body);
  expect([path, status, json.error]).toEqual([path, 201, undefined]);
  return json;
}
const teamsIn = async (query = ''): Promise<string[]> =>
  (await get(`/teams${query}`)).data.map(({ key }: Json) => key).sort();
const set = async (verb: 'archive' | 'unarchive', key = 'OPS'): Promise<Json> => {
  const { status, json } = await send('POST', `/teams/${key}/${verb}`);
  expect(status).toBe(200);
  await app.settled();
  return json;
};

test('an archived team leaves the lists, retains its key, and is restored unchanged', async () => {
  const since = await app.lastSequence();
  const archived = await set('archive');
  expect(archived.archivedAt).toBe(new Date(app.clock.now()).toISOString());
  // A repeated request changes nothing.
  expect((await set('archive')).version).toBe(archived.version);
  expect([await teamsIn(), await teamsIn('?archived=only'), await teamsIn('?archived=include')]).toEqual([
    ['ENG'],
    ['OPS'],
    ['ENG', 'OPS'],
  ]);
  expect(await get('/teams/ops')).toEqual(archived);
  const taken = await send('POST', '/teams', { key: 'OPS' });
  expect(taken.json.error.details[0]).toMatchObject({ path: 'key', issue: 'already_exists' });
  expect(await set('unarchive')).toMatchObject({ archivedAt: null, version: archived.version + 1 });
  expect(await teamsIn()).toEqual(['ENG', 'OPS']);
  expect(await app.eventTypes(since)).toEqual(['team.archived', 'team.unarchived']);
});

test('only admins and owners archive a team', async () => {
  const { call } = await join(app, 'Mia');
  for (const verb of ['archive', 'unarchive']) {
    const { status } = await call('POST', `${v1}/teams/OPS/${verb}`);
    expect([verb, status]).toEqual([verb, 403]);
  }
});

test('an archived team accepts no new issue by any route, and its issues stay readable and writable', async () => {
  const [own, other] = [
    await create('/issues', { team: 'OPS', title: 'Stays' }),
    await create('/issues', { team: 'ENG', title: 'Elsewhere' }),
  ];
  const member = await create('/members', { name: 'Ada', role: 'admin' });
  const scopes = ['issues:write', 'approvals:write', 'proposals:read'];
  const admin = app.clientOf((await create('/api-keys', { name: 'Ada', memberId: member.id, scopes })).key);
  const template = await create('/templates', { name: 'Of ops', team: 'OPS', subIssues: ['Below'] });
  const propose = { 'tatami-mode': 'propose' };
  const proposed = await app.call('POST', `${v1}/issues`, { team: 'OPS', title: 'New' }, propose);
  expect(proposed.status).toBe(202);
  await set('archive');
  const since = await app.lastSequence();
  const approved = await admin('POST', `${v1}/proposals/${proposed.json.id}/approve`, {});
  expect([approved.status, await app.eventTypes(since)]).toEqual([409, []]);
  const span = { startsAt: '2040-01-01T00:00:00.000Z', endsAt: '2040-01-14T00:00:00.000Z' };
  const ways: [method: string, path: string, body: object, at: string][] = [
    ['POST', '/issues', { team: 'OPS', title: 'New' }, 'team'],
    ['POST', '/issues/bulk', { issues: [{ team: 'ops', title: 'New' }] }, 'issues.0.team'],
    ['POST', '/issues', { teamId: ops.id, title: 'New', templateId: template.id }, 'team'],
    ['PUT', '/issues/external/jira/1', { team: 'OPS', title: 'New' }, 'team'],
    ['POST', `/issues/${other.id}/move`, { team: 'OPS' }, 'team'],
    ['POST', '/cycles', { team: 'OPS', ...span }, 'team'],
  ];
  for (const [method, path, body, at] of ways) {
    const { status, json } = await send(method, path, body);
    expect([path, status, json.error?.details[0]]).toEqual([
      path,
      422,
      expect.objectContaining({
        path: at,
        issue: 'conflict',
        fix: expect.stringContaining('/teams/OPS/unarchive'),
      }),
    ]);
  }
  expect(await app.eventTypes(since)).toEqual([]);
  const changed = await send('PATCH', `/issues/${own.identifier}`, { priority: 'high' });
  expect([changed.status, changed.json.team.key]).toEqual([200, 'OPS']);
  expect((await get('/issues?team=OPS')).data.map(({ title }: Json) => title)).toEqual(['Stays']);
  // Issues can leave an archived team.
  expect((await send('POST', `/issues/${own.id}/move`, { team: 'ENG' })).status).toBe(200);
  await set('unarchive');
  expect((await create('/issues', { team: 'OPS', title: 'New' })).identifier).toBe('OPS-2');
  const rejected = await send('POST', `/proposals/${proposed.json.id}/reject`, { reason: 'Late.' });
  expect(rejected.status).toBe(200);
});

test('timers of an archived team do nothing until it is unarchived', async () => {
  const { json: team } = await send('PATCH', '/teams/OPS', { cycles: { weeks: 1 }, triage: 'all' });
  expect(team.cycles.weeks).toBe(1);
  await create('/sla-policies', { name: 'Fast', filter: { priority: 'urgent' }, targetMinutes: 60 });
  const issue = await create('/issues', { team: 'OPS', title: 'Due soon', priority: 'urgent' });
  const until = new Date(app.clock.now() + 2 * dayMs).toISOString();
  expect((await send('POST', `/issues/${issue.id}/triage/snooze`, { until })).status).toBe(200);
  await app.settled();
  await set('archive');
  const since = await app.lastSequence();
  for (let days = 0; days < 16; days += 4) {
    app.clock.advance(4 * dayMs);
    await app.settled();
  }
  expect(await app.eventTypes(since)).toEqual([]);
  await set('unarchive');
  await app.settled();
  const types = new Set(await app.eventTypes(since));
  for (const type of ['team.unarchived', 'cycle.started', 'cycle.completed', 'issue.updated', 'sla.breached'])
    expect([type, types.has(type)]).toEqual([type, true]);
  expect((await get(`/issues/${issue.id}`)).snoozedUntil).toBeNull();
});
