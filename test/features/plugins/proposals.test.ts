// Mode `propose`: writes of a plugin wait for approval, by class and by field, and commit exactly as shown.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type Reply, type TestApp } from '../../app.ts';
import { tatami } from '../../cli/tatami.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

/** One plugin for all tests, with its behavior selected by the title of the issue. */
const source = `{
  id: 'com.test.proposes', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
  on: { 'issue.created': { handle: async ({ data }, ctx) => {
    await ctx.kv.increment('seen');
    if (data.title === 'grade') {
      const now = await ctx.issues.get(data.id);
      await ctx.issues.update(data.id, { priority: 'high', description: now.description + ' (graded)' });
    }
    if (data.title === 'split') {
      const child = await ctx.issues.create({ team: 'ENG', title: 'child', parentId: data.id });
      await ctx.comments.create(child.id, { body: 'Split off.' });
    }
    if (data.title === 'mixed') {
      await ctx.comments.create(data.id, { body: 'Looked at.' });
      await ctx.issues.update(data.id, { priority: 'urgent' });
      await ctx.issues.update(data.id, { estimate: 3 });
    }
  } } },
}`;
const path = '/api/v1/plugins/com.test.proposes';

const installing = async (modes: object): Promise<Json> => install(app.call, await packSource(source), modes);
const create = async (title: string): Promise<string> => {
  const { json } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title });
  await app.settled();
  return json.id;
};
const lastRun = async (): Promise<Json> => (await app.call('GET', `${path}/runs?limit=1`)).json.data[0];
const proposalOf = async ({ proposalId }: Json): Promise<Json> =>
  (await app.call('GET', `/api/v1/proposals/${proposalId}`)).json;
const approve = (id: string, body: object = {}, by: Client = app.call): Promise<Reply> =>
  by('POST', `/api/v1/proposals/${id}/approve`, body);
const issue = async (id: string): Promise<Json> => (await app.call('GET', `/api/v1/issues/${id}`)).json;
const seen = async (): Promise<number> => (await app.call('GET', `${path}/kv/seen`)).json?.value ?? 0;
const eventsAfter = async (after: number): Promise<Json[]> => {
  await app.settled();
  return (await app.call('GET', `/api/v1/events?limit=100&after=${after}`)).json.data;
};
const last = async (): Promise<number> => {
  await app.settled();
  return app.lastSequence();
};

test('a run that proposes writes nothing, and its approval commits all its writes', async () => {
  const { id: pluginId } = await installing({ mode: 'propose', modes: {} });
  const from = await last();
  const id = await create('grade');
  const run = await lastRun();
  expect(run).toMatchObject({
    status: 'proposed',
    mode: 'propose',
    effects: [
      { kind: 'plugin_kv' },
      { kind: 'issue', values: { priority: { before: 'none', after: 'high' } } },
    ],
  });
  const proposal = await proposalOf(run);
  expect(proposal).toMatchObject({
    status: 'open',
    source: 'plugin_run',
    runId: run.id,
    installId: pluginId,
    author: { kind: 'plugin', id: pluginId },
    effects: [{ operation: 'issues.update', entityId: id, class: 'update' }],
  });
  expect((await eventsAfter(from)).map(({ type }) => type)).toEqual([
    'issue.created',
    'automation.proposed',
    'inbox.item_created',
    'automation.run',
  ]);
  expect([(await issue(id)).version, await seen()]).toEqual([1, 0]);

  const before = await last();
  expect((await approve(proposal.id)).json.status).toBe('approved');
  expect(await issue(id)).toMatchObject({ priority: 'high', description: ' (graded)', version: 2 });
  // Its own values are committed as well.
  expect(await seen()).toBe(1);
  const [updated, decided] = await eventsAfter(before);
  expect(updated).toMatchObject({
    type: 'issue.updated',
    actor: { kind: 'plugin', id: pluginId },
    cause: { parentRunId: run.id, depth: 1 },
  });
  expect(decided).toMatchObject({
    type: 'automation.approved',
    actor: { kind: 'api_key' },
    cause: { parentRunId: run.id },
  });
});

test('a creation and a comment on the created object are one proposal, and commit as shown', async () => {
  await create('split');
  const proposal = await proposalOf(await lastRun());
  const [createEffect, comment] = proposal.effects;
  expect([createEffect.class, comment.class]).toEqual(['create', 'comment']);
  const alone = await approve(proposal.id, { effects: [comment.id] });
  expect(alone.json.error.details[0].fix).toContain(`effect ${createEffect.id}`);
  expect((await approve(proposal.id)).status).toBe(200);
  expect((await issue(createEffect.entityId)).title).toBe('child');
  const { data } = (await app.call('GET', `/api/v1/issues/${createEffect.entityId}/comments`)).json;
  expect(data.map((one: Json) => [one.id, one.body])).toEqual([[comment.entityId, 'Split off.']]);
});

test('an approval of some effects rejects the other effects', async () => {
  const parent = await create('split');
  const proposal = await proposalOf(await lastRun());
  const { json } = await approve(proposal.id, { effects: [proposal.effects[0].id] });
  expect([json.status, json.effects.map(({ decision }: Json) => decision)]).toEqual([
    'partly_approved',
    ['approved', 'rejected'],
  ]);
  expect((await issue(proposal.effects[0].entityId)).parent.id).toBe(parent);
  const comments = await app.call('GET', `/api/v1/issues/${proposal.effects[0].entityId}/comments`);
  expect(comments.json.data).toEqual([]);
  expect((await approve(proposal.id)).status).toBe(409);
});

test('an approval after a conflicting change runs the handler again, and shows its new diff', async () => {
  const id = await create('grade');
  const { id: proposalId } = await proposalOf(await lastRun());
  await app.call('PATCH', `/api/v1/issues/${id}`, { description: 'By hand.' });
  const before = await issue(id);
  expect((await approve(proposalId)).json.error.message).toContain('revision 2');
  expect(await issue(id)).toEqual(before);
  const renewed = (await app.call('GET', `/api/v1/proposals/${proposalId}`)).json;
  expect(renewed.effects[0].fields).toContainEqual({
    name: 'description',
    before: 'By hand.',
    after: 'By hand. (graded)',
  });
  expect((await approve(proposalId)).status).toBe(409);
  expect((await approve(proposalId, { revision: 2 })).status).toBe(200);
  expect(await issue(id)).toMatchObject({ description: 'By hand. (graded)', priority: 'high' });
});

test('a proposal of a plugin on probation still waits after a conflicting change', async () => {
  await installing({ mode: 'apply', probation: true });
  try {
    const id = await create('grade');
    const { id: proposalId, effects } = await proposalOf(await lastRun());
    expect(effects.length).toBe(1);
    await app.call('PATCH', `/api/v1/issues/${id}`, { description: 'By hand.' });
    expect((await approve(proposalId)).json.error.message).toContain('revision 2');
    expect((await approve(proposalId, { revision: 2 })).status).toBe(200);
    expect(await issue(id)).toMatchObject({ description: 'By hand. (graded)', priority: 'high' });
  } finally {
    await installing({ mode: 'propose' });
  }
});

test('an approval needs the scopes of its writes, and the plugin still needs its grant', async () => {
  const id = await create('grade');
  const { id: proposalId } = await proposalOf(await lastRun());
  const weak = app.clientOf(await app.mintKey(['issues:read', 'approvals:write']));
  expect((await approve(proposalId, {}, weak)).json.error).toMatchObject({ code: 'insufficient_scope' });
  await app.call('PATCH', path, { grant: ['comments:write'] });
  expect((await approve(proposalId)).json.error.message).toContain('no longer has the required scope');
  await app.call('PATCH', path, { state: 'paused_by_admin' });
  expect((await approve(proposalId)).json.error.message).toContain('no longer active');
  expect((await issue(id)).version).toBe(1);
  await app.call('POST', `/api/v1/proposals/${proposalId}/reject`, { reason: 'Paused.' });
});

test('each class and field has its mode: applied writes commit with the run, and the others wait', async () => {
  await installing({ mode: 'apply', modes: { 'update.priority': 'propose', 'update.estimate': 'simulate' } });
  await app.call('PATCH', path, { state: 'active' });
  const counted = await seen();
  const id = await create('mixed');
  const run = await lastRun();
  expect(run.events.map(({ type }: Json) => type)).toEqual([
    'comment.added',
    'automation.proposed',
    'inbox.item_created',
  ]);
  expect(
    run.effects.map(({ kind, outcome, values }: Json) => [kind, outcome, values && Object.keys(values)]),
  ).toEqual([
    ['plugin_kv', 'applied', null],
    ['comment', 'applied', null],
    ['issue', 'proposed', ['priority']],
    ['issue', 'simulated', ['estimate']],
  ]);
  expect((await app.call('GET', `/api/v1/issues/${id}/comments`)).json.data).toHaveLength(1);
  expect(await issue(id)).toMatchObject({ priority: 'none', estimate: null });
  expect(await seen()).toBe(counted + 1);
  const proposal = await proposalOf(run);
  expect(proposal.effects.map(({ fields }: Json) => fields.map(({ name }: Json) => name))).toEqual([
    ['priority'],
  ]);
  expect((await approve(proposal.id)).status).toBe(200);
  expect(await issue(id)).toMatchObject({ priority: 'urgent', estimate: null });
  expect(await seen()).toBe(counted + 1);
  const wrong = await app.call('PATCH', path, { modes: { destroy: 'apply' } });
  expect(wrong.status).toBe(422);
});

test('deletions without a configured mode are proposed', async () => {
  const document = await packSource(`{
    id: 'com.test.deletes', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
    on: { 'issue.relation_added': { order: 'none', handle: async ({ data }, ctx) => {
      if (data.title === 'one') await ctx.relations.delete(data.relation.id);
    } } },
  }`);
  await install(app.call, document);
  const [one, two] = [await create('one'), await create('two')];
  const related = await app.call('POST', `/api/v1/issues/${one}/relations`, { type: 'blocks', issueId: two });
  expect(related.status).toBe(201);
  await app.settled();
  const open = (await app.call('GET', '/api/v1/proposals?status=open')).json.data;
  expect(open).toMatchObject([{ effects: [{ operation: 'relations.delete', class: 'delete' }] }]);
  expect((await app.call('GET', `/api/v1/relations/${related.json.id}`)).status).toBe(200);
  expect((await approve(open[0].id)).status).toBe(200);
  expect((await app.call('GET', `/api/v1/relations/${related.json.id}`)).status).toBe(404);
});

test('the command line lists, shows, approves and rejects proposals', async () => {
  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  await installing({ mode: 'propose', modes: {} });
  const id = await create('grade');
  const { proposalId } = await lastRun();
  expect((await tatami(['proposals', 'list'], remote)).out).toContain(proposalId);
  const { out } = await tatami(['proposals', 'show', proposalId], remote);
  expect(out).toContain('priority: "none" → "high"');
  expect((await tatami(['proposals', 'approve', proposalId, '--revision', '1'], remote)).out).toContain(
    'approved',
  );
  expect(await issue(id)).toMatchObject({ priority: 'high' });
  await create('grade');
  const next = (await lastRun()).proposalId;
  const rejected = await tatami(['proposals', 'reject', next, '--reason', 'Not this one.'], remote);
  expect(rejected.out).toContain('Reason: Not this one.');
});

test('open proposals end when their plugin is uninstalled, running or paused, and remain when it is paused', async () => {
  for (const isPaused of [false, true]) {
    await installing({ mode: 'propose', modes: {} });
    const id = await create('grade');
    const proposal = await proposalOf(await lastRun());
    const readProposal = async (): Promise<Json> =>
      (await app.call('GET', `/api/v1/proposals/${proposal.id}`)).json;
    const items = async (): Promise<Json[]> =>
      (await app.call('GET', '/api/v1/inbox?limit=100')).json.data.filter(
        ({ target }: Json) => target?.id === proposal.id,
      );
    if (isPaused) await app.call('PATCH', path, { state: 'paused_by_admin' });
    await app.settled();
    expect([(await readProposal()).status, (await items()).length]).toEqual(['open', 1]);
    const from = await last();
    expect((await app.call('DELETE', path)).status).toBe(204);
    expect((await eventsAfter(from)).map(({ type }) => type)).toEqual([
      isPaused ? 'plugin.updated' : 'plugin.disabled',
      'automation.rejected',
      'inbox.item_archived',
    ]);
    expect(await readProposal()).toMatchObject({
      status: 'rejected',
      decidedBy: null,
      reason: 'The plugin com.test.proposes was uninstalled.',
    });
    expect(await items()).toEqual([]);
    expect((await approve(proposal.id)).status).toBe(409);
    expect((await issue(id)).priority).toBe('none');
  }
});
