// Proposals of runs that act for a caller or have no event: an approval gives the plugin no more scopes than the run
// had.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
const path = '/api/v1/plugins/com.test.later';

beforeAll(async () => {
  app = await startApp();
  await install(
    app.call,
    await packSource(`{
      id: 'com.test.later', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
      actions: { ask: { target: 'issue', handle: async ({ target }, ctx) => {
        await ctx.issues.update(target.id, { priority: 'high' });
        await ctx.schedule.once('follow:' + target.id, ctx.now() + 60_000, target.id);
      } } },
      schedules: {
        follow: { handle: async ({ data }, ctx) => {
          await ctx.issues.update(data, { estimate: 3 });
          await ctx.comments.create(data, { body: 'Followed up.' });
        } },
        nightly: { cron: '0 3 * * *', handle: async (_, ctx) => {
          const { data } = await ctx.issues.list({ filter: { title: 'Nightly' } });
          for (const { id, estimate } of data) await ctx.issues.update(id, { estimate: (estimate ?? 0) + 1 });
        } },
      },
    }`),
    { mode: 'propose' },
  );
});
afterAll(() => app.stop());

const create = async (title: string): Promise<Json> =>
  (await app.call('POST', '/api/v1/issues', { team: 'ENG', title })).json;
const issue = async ({ id }: Json): Promise<Json> => (await app.call('GET', `/api/v1/issues/${id}`)).json;
const approve = (proposalId: string) =>
  app.call('POST', `/api/v1/proposals/${proposalId}/approve`, {}, { 'idempotency-key': crypto.randomUUID() });
const lastRun = async (): Promise<Json> => (await app.call('GET', `${path}/runs?limit=1`)).json.data[0];
const scheduled = async (): Promise<Json[]> => (await app.call('GET', `${path}/scheduled`)).json.data;

/**
 * Calls the action, approves its proposal, and advances to the time of its one-time job.
 * @returns the run of that job
 */
async function requestedRun(caller: Client, target: Json): Promise<Json> {
  await app.call('PATCH', path, { mode: 'propose' });
  const reply = await caller('POST', `${path}/actions/ask`, { target: target.id });
  expect(reply.json).toMatchObject({ status: 'proposed', mode: 'propose' });
  expect([await issue(target), await scheduled()]).toMatchObject([{ priority: 'none' }, []]);
  const { proposalId } = await lastRun();
  expect((await approve(proposalId)).json.status).toBe('approved');
  expect(await issue(target)).toMatchObject({ priority: 'high', estimate: null });
  expect(await scheduled()).toMatchObject([{ name: `follow:${target.id}` }]);
  await app.call('PATCH', path, { mode: 'apply' });
  app.clock.advance(60_000);
  await app.settled();
  expect(await scheduled()).toEqual([]);
  return lastRun();
}

test('an approved one-time job has the scopes of its caller, independently of the approver', async () => {
  const writer = app.clientOf(await app.mintKey(['issues:write']));
  const target = await create('Asked by a writer of issues');
  expect(await requestedRun(writer, target)).toMatchObject({
    ...{ handler: 'follow', mode: 'apply', calls: [{ ok: true }, { ok: false, code: 'insufficient_scope' }] },
  });
  expect((await app.call('GET', `/api/v1/issues/${target.id}/comments`)).json.data).toEqual([]);
  expect((await issue(target)).estimate).toBeNull();

  const other = await create('Asked by an administrator');
  const after = await app.lastSequence();
  expect(await requestedRun(app.call, other)).toMatchObject({ handler: 'follow', status: 'succeeded' });
  expect((await issue(other)).estimate).toBe(3);
  await app.settled();
  const types = (await app.eventTypes(after)).filter((type) => /^(issue|comment|automation)\./.test(type));
  expect(types).toEqual([
    'automation.proposed',
    'automation.run',
    'issue.updated',
    'automation.approved',
    'issue.updated',
    'comment.added',
    'automation.run',
  ]);
});

test('an approved one-time job does not run if the key of its caller is revoked first', async () => {
  const { json: key } = await app.call('POST', '/api/v1/api-keys', {
    name: 'gone',
    scopes: ['issues:write', 'comments:write'],
  });
  const target = await create('Asked by a key that ends');
  await app.call('PATCH', path, { mode: 'propose' });
  await app.clientOf(key.key)('POST', `${path}/actions/ask`, { target: target.id });
  await approve((await lastRun()).proposalId);
  await app.call('DELETE', `/api/v1/api-keys/${key.id}`);
  await app.call('PATCH', path, { mode: 'apply' });
  app.clock.advance(60_000);
  await app.settled();
  expect(await lastRun()).toMatchObject({ handler: 'follow', error: { code: 'unauthorized' } });
  expect((await issue(target)).estimate).toBeNull();
});

test('a proposal of a schedule commits once, also with repeated approvals', async () => {
  await app.call('PATCH', path, { mode: 'propose' });
  const target = await create('Nightly');
  await app.settled();
  const from = await app.lastSequence();
  expect((await app.call('POST', `${path}/schedules/nightly/run`)).status).toBe(202);
  await app.settled();
  const run = await lastRun();
  expect(run).toMatchObject({
    handler: 'nightly',
    handlerKind: 'schedule',
    status: 'proposed',
    mode: 'propose',
  });
  const proposal = (await app.call('GET', `/api/v1/proposals/${run.proposalId}`)).json;
  expect(proposal).toMatchObject({
    ...{ status: 'open', source: 'plugin_run', runId: run.id },
    effects: [{ operation: 'issues.update', entityId: target.id }],
  });
  expect(await issue(target)).toMatchObject({ estimate: null, version: 1 });
  const answers = await Promise.all([approve(proposal.id), approve(proposal.id)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  expect((await approve(proposal.id)).status).toBe(409);
  expect(await issue(target)).toMatchObject({ estimate: 1, version: 2 });
  await app.settled();
  expect((await app.eventTypes(from)).filter((type) => !type.startsWith('inbox.'))).toEqual([
    'automation.proposed',
    'automation.run',
    'issue.updated',
    'automation.approved',
  ]);
});
