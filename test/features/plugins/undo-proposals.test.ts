// An approved proposal of a plugin or a request is undone like a run, alone and within a period.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
let plugin: Json;

beforeAll(async () => {
  app = await startApp();
  plugin = await install(
    app.call,
    await packSource(`{
      id: 'com.test.grades', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
      on: { 'issue.created': { handle: async ({ data }, ctx) => {
        if (data.title !== 'grade') return;
        await ctx.issues.update(data.id, { priority: 'high' });
        await ctx.comments.create(data.id, { body: 'Graded.' });
      } } },
    }`),
    { mode: 'apply', modes: { update: 'propose' } },
  );
});
afterAll(() => app.stop());

const post = async (path: string, body?: object, headers?: Record<string, string>): Promise<Json> => {
  const { status, json } = await app.call('POST', `/api/v1/${path}`, body, headers);
  expect({ status: status < 300, error: json.error }).toEqual({ status: true, error: undefined });
  await app.settled();
  return json;
};
const get = async (path: string): Promise<Json> => (await app.call('GET', `/api/v1/${path}`)).json;
const newestEvent = async (): Promise<Json> =>
  (await get('events?limit=100')).data.findLast(({ type }: Json) => !type.startsWith('inbox.'));

/** An issue that the plugin has graded, with a comment at once and the priority after approval. */
async function graded(): Promise<{ issue: Json; proposal: Json; run: Json }> {
  app.clock.advance(1_000);
  const issue = await post('issues', { team: 'ENG', title: 'grade' });
  app.clock.advance(1_000);
  const [run] = (await get(`plugins/${plugin.id}/runs?limit=1`)).data;
  const proposal = await post(`proposals/${run.proposalId}/approve`);
  expect(proposal).toMatchObject({ status: 'approved', undoneBy: null });
  expect(await get(`issues/${issue.id}`)).toMatchObject({ priority: 'high' });
  return { issue, proposal, run };
}

test("undo of a plugin's proposal reverts the approved changes and not those of its run, and can be undone", async () => {
  const { issue, proposal, run } = await graded();
  const undone = await post(`proposals/${proposal.id}/undo`);
  expect(undone).toMatchObject({
    undid: [proposal.id],
    skipped: [],
    changes: [{ kind: 'issue', id: issue.id, action: 'update' }],
  });
  expect(await get(`issues/${issue.id}`)).toMatchObject({ priority: 'none' });
  expect((await get(`issues/${issue.id}/comments`)).data).toHaveLength(1);
  expect((await get(`proposals/${proposal.id}`)).undoneBy).toBe(undone.id);
  expect((await get(`runs/${run.id}`)).undoneBy).toBe(null);
  expect(await newestEvent()).toMatchObject({
    type: 'automation.undone',
    data: { undid: [proposal.id], plugin: { id: plugin.id } },
    cause: { parentRunId: run.id },
  });
  expect((await post(`proposals/${proposal.id}/undo`)).message).toContain('was already undone by');

  await post(`undos/${undone.id}/undo`);
  expect(await get(`issues/${issue.id}`)).toMatchObject({ priority: 'high' });
  expect((await get('proposals')).data[0]).toMatchObject({ id: proposal.id, undoneBy: null });
});

test('undo of a requested proposal has its approval as the cause, and can be undone', async () => {
  const issue = await post('issues', { team: 'ENG', title: 'By an agent' });
  const { id: memberId } = await post('members', { name: 'Ada', email: 'ada@example.com', role: 'member' });
  const scopes = ['issues:read', 'proposals:write'];
  const { key } = await post('api-keys', { name: 'agent', memberId, scopes });
  const { json: proposed } = await app.clientOf(key)(
    'PATCH',
    `/api/v1/issues/${issue.id}`,
    { priority: 'urgent' },
    { 'tatami-mode': 'propose' },
  );
  const { events } = await post(`proposals/${proposed.id}/approve`);
  const undone = await post(`proposals/${proposed.id}/undo`);
  expect(await get(`issues/${issue.id}`)).toMatchObject({ priority: 'none' });
  expect(await newestEvent()).toMatchObject({
    type: 'automation.undone',
    data: { undid: [proposed.id], plugin: null },
    cause: { rootEventId: events[0].id, parentRunId: null, depth: 0 },
  });
  await post(`undos/${undone.id}/undo`);
  expect(await get(`issues/${issue.id}`)).toMatchObject({ priority: 'urgent' });
});

test('undo of a period of a plugin includes the approved changes of that period', async () => {
  const { issue, proposal, run } = await graded();
  const undone = await post(`plugins/${plugin.id}/undo`, { since: run.createdAt });
  expect(undone.undid.toSorted()).toEqual([proposal.id, run.id].toSorted());
  expect(await get(`issues/${issue.id}`)).toMatchObject({ priority: 'none' });
  expect((await get(`issues/${issue.id}/comments`)).data).toEqual([]);
});

test('an open or rejected proposal has nothing to undo', async () => {
  await post('issues', { team: 'ENG', title: 'grade' });
  const [{ proposalId }] = (await get(`plugins/${plugin.id}/runs?limit=1`)).data;
  const undo = () => app.call('POST', `/api/v1/proposals/${proposalId}/undo`);
  expect((await undo()).status).toBe(404);
  await post(`proposals/${proposalId}/reject`, { reason: 'No.' });
  expect((await undo()).json.error.message).toContain('cannot be undone: it changed nothing');
});
