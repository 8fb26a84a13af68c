// A rule acts with the rights of its owner at the commit, and only its owner or an admin changes it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { createIssue, createRule, enabled, getIssue, onCreate, setHigh, v1 } from './rules.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

let number = 0;

/** Adds a member with a key of these scopes. */
async function member(scopes: readonly string[], role = 'member'): Promise<{ id: string; call: Client }> {
  const email = `m${++number}@acme.example`;
  const { json } = await app.call('POST', `${v1}/members`, { name: `Member ${number}`, email, role });
  const key = await app.call('POST', `${v1}/api-keys`, { name: 'Test', scopes, memberId: json.id });
  return { id: json.id, call: app.clientOf(key.json.key) };
}

const all = ['automations:write', 'issues:write', 'comments:write'];
const rule = { name: 'Owned', trigger: onCreate, actions: [setHigh], probation: false };
const remove = (id: string): Promise<Json> => app.call('DELETE', `${v1}/automations/${id}`);

test('a rule never gets a scope that its creator lacks', async () => {
  const { call } = await member(['automations:write', 'issues:read']);
  const { status, json } = await call('POST', `${v1}/automations`, rule);
  expect([status, json.error.code]).toEqual([403, 'forbidden']);
  expect(json.error.message).toContain('issues:write');
});

test('a rule writes the fields of its actions only', async () => {
  const { scopes, id } = await enabled(app, { actions: [setHigh, { type: 'comment', body: 'Seen' }] });
  expect(scopes).toEqual([
    { scope: 'issues:write', fields: ['priority'] },
    { scope: 'comments:write', fields: null },
  ]);
  await remove(id);
});

test('only the owner or an admin changes a rule, and any member who may write automations pauses it', async () => {
  const [owner, other] = [await member(all), await member(all)];
  const { json } = await owner.call('POST', `${v1}/automations`, rule);
  const path = `${v1}/automations/${json.id}`;
  expect(json.owner.id).toBe(owner.id);
  for (const [method, at, body] of [
    ['PATCH', path, { name: 'Taken' }],
    ['POST', `${path}/enable`, { force: true }],
    ['POST', `${path}/restore`, { revision: 1 }],
    ['DELETE', path, undefined],
  ] as const)
    expect([method, (await other.call(method, at, body)).status]).toEqual([method, 403]);
  expect((await owner.call('POST', `${path}/enable`, { force: true })).json.state).toBe('active');
  expect((await other.call('POST', `${path}/disable`)).json).toMatchObject({ state: 'paused' });
  expect((await owner.call('PATCH', path, { ownerId: other.id })).status).toBe(403);
  expect((await app.call('PATCH', path, { ownerId: other.id })).json.owner.id).toBe(other.id);
  await remove(json.id);
});

test('a rule whose owner leaves is suspended with an event and a notification, and writes nothing', async () => {
  const owner = await member(all);
  const { json } = await owner.call('POST', `${v1}/automations`, { ...rule, probation: false });
  const path = `${v1}/automations/${json.id}`;
  await owner.call('POST', `${path}/enable`, { force: true });
  expect((await createIssue(app)).priority).toBe('high');
  await app.call('DELETE', `${v1}/members/${owner.id}`);
  const since = await app.lastSequence();
  expect((await createIssue(app)).priority).toBe('none');
  expect((await app.call('GET', path)).json).toMatchObject({
    state: 'suspended',
    stateReason: expect.stringContaining('no longer a member'),
  });
  expect(await app.eventTypes(since)).toContain('automation.disabled');
  const { data } = (await app.call('GET', `${v1}/inbox?limit=5`)).json;
  expect(data.map(({ kind }: Json) => kind)).toContain('automation_disabled');
  await app.call('PATCH', path, { ownerId: app.workspace.userId });
  expect((await app.call('POST', `${path}/enable`, { force: true })).json.state).toBe('active');
  expect((await createIssue(app)).priority).toBe('high');
  await remove(json.id);
});

test('a rule whose owner becomes a guest is suspended before it writes', async () => {
  const owner = await member(all);
  const { json } = await owner.call('POST', `${v1}/automations`, rule);
  await owner.call('POST', `${v1}/automations/${json.id}/enable`, { force: true });
  const { json: teams } = await app.call('GET', `${v1}/teams`);
  const demoted = await app.call('PATCH', `${v1}/members/${owner.id}`, {
    role: 'guest',
    teams: [teams.data[0].key],
  });
  expect(demoted.status).toBe(200);
  expect((await createIssue(app)).priority).toBe('none');
  expect((await app.call('GET', `${v1}/automations/${json.id}`)).json.state).toBe('suspended');
  await remove(json.id);
});

test('a proposal of a rule cannot be approved once its owner lost the rights', async () => {
  const owner = await member(all);
  const { json } = await owner.call('POST', `${v1}/automations`, { ...rule, probation: true });
  await owner.call('POST', `${v1}/automations/${json.id}/enable`, { force: true });
  const issue = await createIssue(app);
  const { data } = (await app.call('GET', `${v1}/proposals?install=${json.id}&status=open`)).json;
  await app.call('DELETE', `${v1}/members/${owner.id}`);
  const approved = await app.call('POST', `${v1}/proposals/${data[0].id}/approve`, {});
  expect([approved.status, (await getIssue(app, issue.id)).priority]).toEqual([403, 'none']);
  await remove(json.id);
});

test('the writes of a rule can be undone, and a repeated run finds the same', async () => {
  const created = await enabled(app, {});
  const issue = await createIssue(app);
  const { data } = (await app.call('GET', `${v1}/plugins/${created.id}/runs`)).json;
  expect(data[0]).toMatchObject({ pluginId: created.id, pluginVersion: '1', status: 'succeeded' });
  expect((await app.call('POST', `${v1}/runs/${data[0].id}/undo`)).status).toBe(200);
  await app.settled();
  expect((await getIssue(app, issue.id)).priority).toBe('none');
  await remove(created.id);
});

test('an earlier revision can be restored, and a copy is paused', async () => {
  const { id } = await createRule(app, { name: 'First' });
  const path = `${v1}/automations/${id}`;
  const trigger = { type: 'event', event: 'issue.created', filter: { priority: 'low' } };
  expect((await app.call('PATCH', path, { trigger })).json.revision).toBe(2);
  const { data } = (await app.call('GET', `${path}/revisions`)).json;
  expect(data.map(({ revision, trigger }: Json) => [revision, trigger.filter ?? null])).toEqual([
    [2, { priority: 'low' }],
    [1, null],
  ]);
  expect((await app.call('POST', `${path}/restore`, { revision: 1 })).json).toMatchObject({
    revision: 3,
    trigger: onCreate,
  });
  const copy = (await app.call('POST', `${path}/duplicate`, {})).json;
  expect(copy).toMatchObject({ name: 'First (copy)', state: 'paused', revision: 1 });
  await Promise.all([id, copy.id].map(remove));
});
