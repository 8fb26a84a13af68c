// Deleted issues are listed, restored and purged.
import Database from 'libsql';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { scenarioOf, type Scenario } from '../../scenario.ts';

let app: TestApp;
let step: Scenario;
beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
});
afterAll(() => app.stop());

const make = async (more: object = {}): Promise<Json> =>
  (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Trash', ...more })).json;
const listed = async (query: string): Promise<string[]> =>
  (await app.call('GET', `/api/v1/issues?fields=id&${query}`)).json.data.map(({ id }: Json) => id);

test('deleted issues are listed on request, with the time of their deletion', async () => {
  const [live, gone] = [await make({ labels: ['bug'] }), await make({ labels: ['bug'], priority: 'high' })];
  app.clock.advance(1000);
  await step('DELETE', `/issues/${gone.id}`, undefined, { status: 204, events: ['issue.deleted'] });
  const deletedAt = new Date(app.clock.now()).toISOString();
  expect(await listed('')).toEqual([live.id]);
  expect(await listed('deleted=exclude')).toEqual([live.id]);
  expect(await listed('deleted=only')).toEqual([gone.id]);
  expect(await listed('deleted=include')).toEqual([gone.id, live.id]);
  expect(await listed('deleted=include&priority=high')).toEqual([gone.id]);
  expect(await listed('deleted=only&label=bug&team=ENG')).toEqual([gone.id]);
  await step('GET', '/issues?deleted=include', undefined, {
    status: 200,
    body: {
      data: [
        { id: gone.id, deletedAt },
        { id: live.id, deletedAt: null },
      ],
    },
  });
  await step('GET', '/issues?deleted=yes', undefined, {
    status: 422,
    error: ['validation_failed', 'deleted invalid_enum'],
  });
  // A cursor continues in its own list.
  const { pageInfo } = (await app.call('GET', '/api/v1/issues?deleted=include&limit=1')).json;
  expect(await listed(`deleted=include&limit=1&after=${pageInfo.endCursor}`)).toEqual([live.id]);
  expect((await app.call('GET', `/api/v1/issues?after=${pageInfo.endCursor}`)).json.error.code).toBe(
    'invalid_cursor',
  );
  const [recorded] = (await app.call('GET', `/api/v1/issues/${gone.id}/history`)).json.data.slice(-1);
  expect([recorded.data.deletedAt, recorded.data.previous]).toEqual([deletedAt, { deletedAt: null }]);
  await step('POST', `/issues/${gone.id}/restore`, undefined, {
    status: 200,
    body: { deletedAt: null },
    events: ['issue.restored'],
  });
  expect(await listed('deleted=only')).toEqual([]);
});

test('a purge removes an issue and its comments and frees its external id, but not its number', async () => {
  const external = { externalSource: 'jira', externalId: 'PRJ-7' };
  const { id, identifier } = await make({ ...external, labels: ['bug'] });
  const { json: comment } = await app.call('POST', `/api/v1/issues/${id}/comments`, { body: 'First' });
  await app.call('POST', `/api/v1/issues/${id}/comments`, { body: 'Reply', parentId: comment.id });
  await step('POST', `/issues/${identifier}/purge`, undefined, { status: 409, error: ['conflict'] });
  await app.call('DELETE', `/api/v1/issues/${id}`);
  const stale = { status: 412, headers: { 'if-match': '"1-x"' }, error: ['precondition_failed'] } as const;
  await step('POST', `/issues/${id}/purge`, undefined, { ...stale, error: ['precondition_failed'] });
  await step('POST', `/issues/${id}/purge`, undefined, { status: 204, events: ['issue.purged'] });
  for (const [method, path] of [
    ['GET', `/issues/${identifier}`],
    ['POST', `/issues/${id}/purge`],
    ['POST', `/issues/${id}/restore`],
    ['GET', `/issues/${id}/history`],
    ['GET', `/comments/${comment.id}`],
  ] as const)
    await step(method, path, undefined, { status: 404 });
  expect(await listed('deleted=include')).not.toContain(id);
  const db = new Database(join(app.dataDir, 'tatami.db'), { readonly: true });
  const left = (table: string, column: string): number =>
    db.prepare(`SELECT 1 FROM ${table} WHERE ${column} = ?`).all(id).length;
  expect([left('issues', 'id'), left('comments', 'issue_id'), left('issue_labels', 'issue_id')]).toEqual([
    0, 0, 0,
  ]);
  db.close();
  const again = await make(external);
  expect(Number(again.identifier.slice(4))).toBe(Number(identifier.slice(4)) + 1);
  const recorded = (await app.call('GET', '/api/v1/events?types=issue.purged')).json.data;
  expect(recorded).toMatchObject([{ data: { id, identifier, ...external }, actor: { kind: 'api_key' } }]);
});

test('an issue with sub-issues, also deleted ones, cannot be purged, and only owners and admins purge', async () => {
  const parent = await make();
  const [child, deleted] = [await make({ parentId: parent.id }), await make({ parentId: parent.id })];
  for (const { id } of [parent, deleted]) await app.call('DELETE', `/api/v1/issues/${id}`);
  const refusal = async (): Promise<unknown[]> => {
    const { status, json } = await app.call('POST', `/api/v1/issues/${parent.id}/purge`);
    return [status, json.error.message];
  };
  expect(await refusal()).toEqual([409, expect.stringContaining(`Give ${child.identifier} another parent`)]);
  await app.call('PATCH', `/api/v1/issues/${child.id}`, { parentId: null });
  const words = `The deleted issue ${deleted.identifier} has this issue as its parent. Purge ${deleted.identifier} first`;
  expect(await refusal()).toEqual([409, expect.stringContaining(words)]);
  await step('POST', `/issues/${deleted.identifier}/purge`, undefined, {
    status: 204,
    events: ['issue.purged'],
  });
  for (const role of ['guest', 'member', 'admin']) {
    const { status, json } = await (await clientOf(role))('POST', `/api/v1/issues/${parent.id}/purge`);
    expect([role, status, json?.error?.code]).toEqual(
      role === 'admin' ? [role, 204, undefined] : [role, 403, 'forbidden'],
    );
  }
});

test('concurrent purges of an issue emit one event', async () => {
  const { id } = await make();
  await app.call('DELETE', `/api/v1/issues/${id}`);
  const from = await app.lastSequence();
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => app.call('POST', `/api/v1/issues/${id}/purge`)),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(404)]);
  expect(await app.eventTypes(from)).toEqual(['issue.purged']);
});

test('of a concurrent purge and restore exactly one takes effect', async () => {
  for (let round = 0; round < 10; round++) {
    const { id } = await make();
    await app.call('DELETE', `/api/v1/issues/${id}`);
    const [restored, purged] = await Promise.all(
      ['restore', 'purge'].map((verb) => app.call('POST', `/api/v1/issues/${id}/${verb}`)),
    );
    const { status } = await app.call('GET', `/api/v1/issues/${id}`);
    expect([
      [200, 409, 200],
      [404, 204, 404],
    ]).toContainEqual([restored!.status, purged!.status, status]);
  }
});

/** The key of a member with that role. */
async function clientOf(role: string): Promise<Client> {
  const { json: member } = await app.call('POST', '/api/v1/members', {
    ...{ name: role, role },
    ...(role === 'guest' && { teams: ['ENG'] }),
  });
  const key = { name: role, memberId: member.id, scopes: ['issues:write'] };
  return app.clientOf((await app.call('POST', '/api/v1/api-keys', key)).json.key);
}

test('a purged issue is found in past reads and filters by its id and by each of its identifiers', async () => {
  const v1 = '/api/v1';
  const post = async (path: string, body?: object): Promise<Json> => {
    const { status, json } = await app.call('POST', `${v1}${path}`, body);
    expect({ path, status: status < 300, error: json?.error }).toEqual({
      path,
      status: true,
      error: undefined,
    });
    return json;
  };
  await post('/teams', { key: 'OLD', name: 'Old' });
  const parent = await post('/issues', { team: 'OLD', title: 'To be purged' });
  const child = await post('/issues', { team: 'ENG', title: 'Child', parentId: parent.id });
  const { identifier } = await post(`/issues/${parent.id}/move`, { team: 'ENG' });
  const names = [parent.id, parent.identifier, identifier];
  const sequence = await app.lastSequence();
  await app.call('PATCH', `${v1}/issues/${child.id}`, { parentId: null });
  await app.call('DELETE', `${v1}/issues/${parent.id}`);
  await post(`/issues/${identifier}/purge`);
  for (const name of names) {
    const { status, json } = await app.call('GET', `${v1}/issues/${name}?asOf=${sequence}`);
    expect([name, status, json.identifier]).toEqual([name, 200, identifier]);
    expect((await app.call('GET', `${v1}/issues/${name}`)).status).toBe(404);
    expect((await app.call('GET', `${v1}/issues/${name}/history`)).status).toBe(404);
    const listed = await app.call(
      'GET',
      `${v1}/issues?asOf=${sequence}&filter=${JSON.stringify({ parent: name })}`,
    );
    expect([name, listed.status, listed.json.data?.map(({ id }: Json) => id)]).toEqual([
      name,
      200,
      [child.id],
    ]);
  }
  const itself = await app.call('GET', `${v1}/issues?asOf=${sequence}&filter={"identifier":"${identifier}"}`);
  expect(itself.json.data.map(({ id }: Json) => id)).toEqual([parent.id]);
  const taken = await app.call('POST', `${v1}/issues`, {
    team: 'ENG',
    title: 'Again',
    number: Number(identifier.slice(4)),
  });
  expect([taken.status, taken.json.error.details[0].issue]).toEqual([422, 'already_exists']);
});
