// `Tatami-Mode: propose`: a write is stored for approval, shown field by field, and committed exactly as shown when
// another member approves it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type Reply, type TestApp } from '../app.ts';

let app: TestApp;
/** Reads and proposes; its member may not write. */
let agent: Client;
/** A second administrator. */
let other: Client;
beforeAll(async () => {
  app = await startApp();
  agent = app.clientOf(await app.mintKey(['issues:read', 'comments:read', 'proposals:write']));
  const { json: member } = await app.call('POST', '/api/v1/members', {
    name: 'Ada',
    email: 'ada@example.com',
    role: 'admin',
  });
  const minted = await app.call('POST', '/api/v1/api-keys', {
    name: 'ada',
    memberId: member.id,
    scopes: [
      'issues:write',
      'comments:write',
      'approvals:write',
      'proposals:read',
      'inbox:read',
      'labels:write',
    ],
  });
  other = app.clientOf(minted.json.key);
});
afterAll(() => app.stop());

const proposing = { 'tatami-mode': 'propose' };
const create = async (title: string): Promise<Json> =>
  issueNow((await app.call('POST', '/api/v1/issues', { team: 'ENG', title })).json.id);
const propose = (id: string, patch: object, headers = {}): Promise<Reply> =>
  agent('PATCH', `/api/v1/issues/${id}`, patch, { ...proposing, ...headers });
const approve = (id: string, body: object = {}, by = other): Promise<Reply> =>
  by('POST', `/api/v1/proposals/${id}/approve`, body);
const issueNow = async (id: string): Promise<Json> => (await app.call('GET', `/api/v1/issues/${id}`)).json;
const eventsAfter = async (after: number): Promise<Json[]> => {
  await app.settled();
  return (await app.call('GET', `/api/v1/events?limit=100&after=${after}`)).json.data;
};
const last = async (): Promise<number> => {
  await app.settled();
  return app.lastSequence();
};

test('a caller without write scopes proposes, and another member approves exactly the shown change', async () => {
  const issue = await create('Slow start');
  expect((await agent('PATCH', `/api/v1/issues/${issue.id}`, { priority: 'high' })).status).toBe(403);
  const from = await last();
  const proposed = await propose(issue.id, { priority: 'high', description: 'It takes a minute.' });
  expect([proposed.status, proposed.headers.get('tatami-mode')]).toEqual([202, 'propose']);
  const { id } = proposed.json;
  expect(proposed.headers.get('location')).toEndWith(`/api/v1/proposals/${id}`);
  expect(proposed.json).toMatchObject({
    status: 'open',
    source: 'request',
    revision: 1,
    effects: [
      {
        id: '1',
        operation: 'issues.update',
        kind: 'issue',
        entityId: issue.id,
        issue: issue.identifier,
        class: 'update',
        baseVersion: issue.version,
        decision: null,
      },
    ],
  });
  expect(proposed.json.effects[0].fields).toContainEqual({ name: 'priority', before: 'none', after: 'high' });
  expect(await issueNow(issue.id)).toMatchObject({ priority: 'none', version: issue.version });
  const emitted = await eventsAfter(from);
  expect(emitted.map(({ type }) => type).filter((type) => !type.startsWith('inbox.'))).toEqual([
    'automation.proposed',
  ]);
  expect(JSON.stringify(emitted)).not.toContain('It takes a minute.');
  const [item] = (await other('GET', '/api/v1/inbox')).json.data;
  expect(item).toMatchObject({ kind: 'proposal_made', reason: 'proposal', target: { kind: 'proposal', id } });

  const before = await last();
  const approved = await approve(id);
  expect([approved.status, approved.json.status, approved.json.decidedBy.name]).toEqual([
    200,
    'approved',
    'Ada',
  ]);
  expect(await issueNow(issue.id)).toMatchObject({ priority: 'high', description: 'It takes a minute.' });
  const events = await eventsAfter(before);
  const updated = events.find(({ type }) => type === 'issue.updated');
  const decision = events.find(({ type }) => type === 'automation.approved');
  expect([updated.actor.name, decision.actor.name]).toEqual(['test', 'ada']);
  expect(approved.json.events).toEqual([{ id: updated.id, type: 'issue.updated' }]);
  expect((await other('GET', '/api/v1/inbox')).json.data).toEqual([]);
  expect((await approve(id)).json.error.code).toBe('conflict');
});

test('an approval needs the approval scope, the scopes of the write, and another member', async () => {
  const issue = await create('Rights');
  const { id } = (await propose(issue.id, { title: 'Wrongs' })).json;
  const reader = app.clientOf(await app.mintKey(['issues:write', 'proposals:write']));
  const weak = app.clientOf(await app.mintKey(['issues:read', 'approvals:write', 'proposals:read']));
  expect((await approve(id, {}, reader)).json.error.code).toBe('insufficient_scope');
  expect((await approve(id, {}, weak)).json.error.message).toContain('issues:write');
  // The agent's key belongs to the same member as the initial key of the workspace.
  expect((await approve(id, {}, app.call)).json.error).toMatchObject({ code: 'forbidden' });
  const unread = app.clientOf(await app.mintKey(['proposals:read']));
  expect((await unread('GET', `/api/v1/proposals/${id}`)).json.error.code).toBe('insufficient_scope');
  expect((await unread('GET', '/api/v1/proposals')).text).not.toContain('Wrongs');
  const noProposer = app.clientOf(await app.mintKey(['issues:write']));
  const refused = await noProposer('PATCH', `/api/v1/issues/${issue.id}`, { title: 'x' }, proposing);
  expect(refused.json.error.message).toContain('proposals:write');
  const blind = app.clientOf(await app.mintKey(['proposals:write']));
  expect((await blind('PATCH', `/api/v1/issues/${issue.id}`, { title: 'x' }, proposing)).status).toBe(403);
  expect(await issueNow(issue.id)).toMatchObject({ title: 'Rights', version: issue.version });
});

test('operations that return secrets, upload files, decide or change nothing cannot be proposed', async () => {
  const key = await app.call('POST', '/api/v1/api-keys', { name: 'k', scopes: ['issues:read'] }, proposing);
  expect(key.json.error).toMatchObject({ code: 'forbidden', message: expect.stringContaining('secret') });
  const issue = await create('Refused');
  const file = await app.call('POST', `/api/v1/issues/${issue.id}/attachments/upload?name=a.txt`, 'x', {
    ...proposing,
    'content-type': 'text/plain',
  });
  expect(file.json.error).toMatchObject({ code: 'forbidden', message: expect.stringContaining('uploads') });
  const { id } = (await propose(issue.id, { priority: 'low' })).json;
  const decided = await other('POST', `/api/v1/proposals/${id}/approve`, {}, proposing);
  expect(decided.status).toBe(403);
  expect((await propose(issue.id, { title: 'Refused' })).json.error.code).toBe('conflict');
});

test('an approval after a conflicting change writes nothing, and the new diff needs another review', async () => {
  const issue = await create('Moves');
  const { id } = (await propose(issue.id, { priority: 'high', description: 'Ours' })).json;
  // A change of another field is no conflict.
  await app.call('PATCH', `/api/v1/issues/${issue.id}`, { title: 'Moved' });
  await app.call('PATCH', `/api/v1/issues/${issue.id}`, { description: 'Theirs' });
  const before = await issueNow(issue.id);
  const refused = await approve(id);
  expect(refused.json.error).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('revision 2'),
  });
  expect(await issueNow(issue.id)).toEqual(before);
  const current = (await other('GET', `/api/v1/proposals/${id}`)).json;
  expect([current.status, current.revision]).toEqual(['open', 2]);
  expect(current.effects[0].fields).toContainEqual({ name: 'description', before: 'Theirs', after: 'Ours' });
  // An approval of the first revision does not apply to the second.
  expect((await approve(id)).json.error.message).toContain('revision 2');
  expect((await approve(id, { revision: 2 })).status).toBe(200);
  expect(await issueNow(issue.id)).toMatchObject({ priority: 'high', description: 'Ours', title: 'Moved' });
});

test('a change beyond the shown part of a long text is a conflict', async () => {
  const issue = await create('Long');
  const text = 'x'.repeat(3000);
  await app.call('PATCH', `/api/v1/issues/${issue.id}`, { description: text });
  const { id } = (await propose(issue.id, { description: 'short' })).json;
  await app.call('PATCH', `/api/v1/issues/${issue.id}`, { description: `${text}y` });
  expect((await approve(id)).json.error.message).toContain('revision 2');
});

test('time-dependent values are computed at the time of the approval', async () => {
  const issue = await create('Done');
  const states = (await app.call('GET', '/api/v1/workflows')).json.data;
  const done = states.find(({ type }: Json) => type === 'completed');
  const { id } = (await propose(issue.id, { stateId: done.id })).json;
  app.clock.advance(3_600_000);
  await app.settled();
  expect((await approve(id)).status).toBe(200);
  expect((await issueNow(issue.id)).state.type).toBe('completed');
});

test('one of two concurrent approvals commits', async () => {
  const issue = await create('Race');
  const { id } = (await propose(issue.id, { priority: 'urgent' })).json;
  const from = await last();
  const replies = await Promise.all(Array.from({ length: 6 }, () => approve(id)));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  const types = (await eventsAfter(from)).map(({ type }) => type);
  expect(types.filter((type) => type === 'issue.updated' || type === 'automation.approved')).toHaveLength(2);
});

test('a proposal is approved in part by effects, and effects of one write stay together', async () => {
  const proposed = await agent(
    'POST',
    '/api/v1/issues/bulk',
    {
      issues: [
        { team: 'ENG', title: 'One' },
        { team: 'ENG', title: 'Two' },
      ],
    },
    proposing,
  );
  expect(proposed.json.effects.map(({ class: does, issue }: Json) => [does, issue])).toEqual([
    ['create', null],
    ['create', null],
  ]);
  const half = await approve(proposed.json.id, { effects: ['1'] });
  expect(half.json.error.details[0].fix).toContain('effect 2');
  expect((await approve(proposed.json.id, { effects: ['7'] })).status).toBe(422);
  const done = await approve(proposed.json.id, { effects: ['1', '2'] });
  expect(done.json.status).toBe('approved');
  // The created object has the ids that were shown.
  const { entityId } = proposed.json.effects[0];
  expect(await issueNow(entityId)).toMatchObject({
    title: 'One',
    identifier: expect.stringMatching(/^ENG-\d+$/),
  });
});

test('a rejection stores its reason, and an idempotency key applies to a proposal', async () => {
  const issue = await create('Rejected');
  const key = { 'idempotency-key': 'once' };
  const first = await propose(issue.id, { priority: 'low' }, key);
  const again = await propose(issue.id, { priority: 'low' }, key);
  expect([again.status, again.json.id]).toEqual([202, first.json.id]);
  const { id } = first.json;
  expect((await other('POST', `/api/v1/proposals/${id}/reject`, { reason: ' ' })).status).toBe(422);
  const rejected = await other('POST', `/api/v1/proposals/${id}/reject`, { reason: 'Not now.' });
  expect(rejected.json).toMatchObject({ status: 'rejected', reason: 'Not now.', decidedBy: { name: 'Ada' } });
  expect((await approve(id)).status).toBe(409);
  const listed = async (query: string): Promise<string[]> =>
    (await other('GET', `/api/v1/proposals?limit=100&${query}`)).json.data.map((one: Json) => one.id);
  expect(await listed(`issue=${issue.id}`)).toEqual([id]);
  expect(await listed('status=rejected')).toContain(id);
  expect(await listed('status=open')).not.toContain(id);
  expect(await listed(`author=${first.json.author.id}`)).toContain(id);
  expect(await listed('install=plg_00000000000000000000000000')).toEqual([]);
});

test('a proposal expires after seven days', async () => {
  const issue = await create('Forgotten');
  const { id } = (await propose(issue.id, { priority: 'low' })).json;
  const from = await last();
  app.clock.advance(7 * 86_400_000 - 1000);
  await app.settled();
  expect((await other('GET', `/api/v1/proposals/${id}`)).json.status).toBe('open');
  app.clock.advance(2000);
  await app.settled();
  expect((await other('GET', `/api/v1/proposals/${id}`)).json).toMatchObject({
    status: 'expired',
    reason: 'expired',
  });
  const ended = (await eventsAfter(from)).find(
    ({ type, data }) => type === 'automation.rejected' && data.id === id,
  );
  expect(ended).toMatchObject({ actor: { kind: 'system' }, data: { reason: 'expired', status: 'expired' } });
  expect((await approve(id)).json.error.message).toContain('expired');
  expect(await issueNow(issue.id)).toMatchObject({ priority: 'none' });
});

test('a simulated approval shows its result and decides nothing', async () => {
  const issue = await create('Looked at');
  const { id } = (await propose(issue.id, { priority: 'low' })).json;
  const current = await other('POST', `/api/v1/proposals/${id}/approve`, {}, { 'tatami-mode': 'simulate' });
  expect([current.status, current.json.status]).toEqual([200, 'approved']);
  await app.call('PATCH', `/api/v1/issues/${issue.id}`, { priority: 'high' });
  const moved = await other('POST', `/api/v1/proposals/${id}/approve`, {}, { 'tatami-mode': 'simulate' });
  expect([moved.status, moved.json.revision]).toEqual([200, 2]);
  expect((await other('GET', `/api/v1/proposals/${id}`)).json).toMatchObject({ status: 'open', revision: 1 });
  const again = await other('POST', `/api/v1/proposals/${id}/rerun`);
  expect([again.status, again.json.revision]).toEqual([200, 2]);
});
