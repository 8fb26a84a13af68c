// Undo through the API: one commit reverts the writes of a run, later changes by people remain and are reported, and
// the undo can be undone. With real libsql and a real sidecar; only the clock is a fake.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
let team = 0;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const triage = (id: string, self = 'skip') => `{
  id: '${id}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
  on: {
    'issue.created': { handle: async (event, ctx) => {
      await ctx.issues.update(event.data.id, { priority: 'high', labels: ['bug'], title: event.data.title + '!' });
      await ctx.comments.create(event.data.id, { body: 'triaged' });
      await ctx.kv.set('seen', event.data.id);
    } },
    'issue.updated': { self: '${self}', handle: async (event, ctx) => {
      if (event.data.priority !== 'high') await ctx.issues.update(event.data.id, { priority: 'high' });
    } },
  },
}`;

/** A separate workspace with the plugin and an issue that it has triaged. */
async function triaged(
  id: string,
): Promise<{ call: Client; key: string; plugin: Json; issue: Json; run: Json }> {
  const key = `U${++team}`;
  const { apiKey } = await app.addWorkspace(`Undo ${team}`, key);
  const call = app.clientOf(apiKey);
  const plugin = await install(call, await packSource(triage(id)));
  const issue = await make(call, key, 'One');
  return { call, key, plugin, issue, run: await newestRun(call, id) };
}

async function make(call: Client, key: string, title: string): Promise<Json> {
  const { json, status } = await call('POST', '/api/v1/issues', { team: key, title });
  expect(status).toBe(201);
  await app.settled();
  return json;
}

async function newestRun(call: Client, plugin: string): Promise<Json> {
  return (await call('GET', `/api/v1/plugins/${plugin}/runs`)).json.data[0];
}

const readIssue = async (call: Client, id: string): Promise<Json> =>
  (await call('GET', `/api/v1/issues/${id}`)).json;
const comments = async (call: Client, id: string): Promise<Json[]> =>
  (await call('GET', `/api/v1/issues/${id}/comments`)).json.data;

/** An issue without the properties that every write changes. */
function said({ version, updatedAt, ...rest }: Json): Json {
  void [version, updatedAt];
  return rest;
}

async function undo(
  call: Client,
  path: string,
  body?: object,
  headers?: Record<string, string>,
): Promise<Json> {
  const { status, json } = await call('POST', `/api/v1/${path}/undo`, body, headers);
  expect({ status, error: json.error }).toEqual({ status: 200, error: undefined });
  await app.settled();
  return json;
}

async function eventsAfter(call: Client, after: number): Promise<Json[]> {
  const { data } = (await call('GET', `/api/v1/events?limit=100&after=${after}`)).json;
  return data.filter(({ type }: Json) => !type.startsWith('inbox.'));
}
const end = async (call: Client): Promise<number> => (await eventsAfter(call, 0)).at(-1).sequence;

test('undo of a run restores changed values and removes created objects in one commit, and the plugin does not repeat its writes', async () => {
  const { call, issue, run, plugin } = await triaged('com.test.undo-run');
  const triagedIssue = await readIssue(call, issue.id);
  expect(triagedIssue).toMatchObject({ priority: 'high', title: 'One!', labels: [{ name: 'bug' }] });
  const from = await end(call);

  const simulated = await undo(call, `runs/${run.id}`, undefined, { 'tatami-mode': 'simulate' });
  expect(await readIssue(call, issue.id)).toEqual(triagedIssue);
  expect((await eventsAfter(call, from)).length).toBe(0);

  const undone = await undo(call, `runs/${run.id}`);
  const message = undone.message.replace('reverted', 'would be reverted');
  expect(simulated).toEqual({ ...undone, id: null, message });
  expect(undone).toMatchObject({
    undid: [run.id],
    skipped: [],
    changes: [
      { kind: 'comment', action: 'remove', issue: { id: issue.id } },
      { kind: 'issue', id: issue.id, action: 'update', issue: { identifier: triagedIssue.identifier } },
    ],
  });
  const field = (name: string) => undone.changes[1].fields.find((one: Json) => one.field === name);
  expect(field('priority')).toEqual({ field: 'priority', from: 'high', to: 'none' });
  expect(await readIssue(call, issue.id)).toMatchObject({ ...said(issue), priority: 'none', labels: [] });
  expect(await comments(call, issue.id)).toEqual([]);

  const events = await eventsAfter(call, from);
  expect(events.map(({ type }) => type)).toEqual([
    'comment.deleted',
    'issue.updated',
    'issue.labeled',
    'automation.undone',
  ]);
  for (const { actor, cause } of events) {
    expect(actor.kind).toBe('api_key');
    expect(cause).toMatchObject({ parentRunId: run.id, depth: 1, path: [`${plugin.id}:${issue.id}`] });
  }
  expect(events.at(-1).data).toEqual({
    undo: { id: undone.id },
    undid: [run.id],
    plugin: { id: plugin.id },
    changed: 2,
    skipped: 0,
  });
  expect((await call('GET', `/api/v1/runs/${run.id}`)).json.undoneBy).toBe(undone.id);

  const again = await undo(call, `runs/${run.id}`);
  expect(again).toMatchObject({ id: null, changes: [], skipped: [] });
  expect(again.message).toContain(`undone by ${undone.id}. Undo ${undone.id}`);
});

test('the undo of an undo restores the result of the run, and can be undone again', async () => {
  const { call, issue, run } = await triaged('com.test.undo-undo');
  const [left, [comment]] = [await readIssue(call, issue.id), await comments(call, issue.id)];
  const first = await undo(call, `runs/${run.id}`);
  const before = await readIssue(call, issue.id);
  const second = await undo(call, `undos/${first.id}`);
  expect(second.changes.map(({ kind, action }: Json) => [kind, action])).toEqual([
    ['issue', 'update'],
    ['comment', 'restore'],
  ]);
  expect(said(await readIssue(call, issue.id))).toEqual(said(left));
  expect((await comments(call, issue.id)).map(said)).toEqual([said(comment)]);
  expect((await call('GET', `/api/v1/runs/${run.id}`)).json.undoneBy).toBe(null);

  await undo(call, `undos/${second.id}`);
  expect(said(await readIssue(call, issue.id))).toEqual(said(before));
  expect((await call('GET', `/api/v1/runs/${run.id}`)).json.undoneBy).toBe(first.id);
  const third = await undo(call, `runs/${run.id}`);
  expect(third.message).toContain('was already undone by');
});

test('later changes by people remain, and are listed with the written value, the current value and the author', async () => {
  const { call, issue, run } = await triaged('com.test.undo-since');
  const byHand = await call('PATCH', `/api/v1/issues/${issue.id}`, {
    title: 'By hand',
    addLabels: ['feature'],
  });
  expect(byHand.json.error).toBe(undefined);
  await app.settled();
  const edit = (await eventsAfter(call, 0)).findLast(({ type }) => type === 'issue.updated');
  const undone = await undo(call, `runs/${run.id}`);
  expect(undone.skipped).toEqual([
    {
      kind: 'issue',
      id: issue.id,
      issue: { id: issue.id, identifier: issue.identifier },
      field: 'title',
      reason: 'changed',
      ranSet: 'One!',
      now: 'By hand',
      changedBy: { kind: 'api_key', id: expect.any(String), name: edit.actor.name },
      eventId: edit.id,
    },
  ]);
  // A label that a person added remains when the plugin's label is removed.
  expect(await readIssue(call, issue.id)).toMatchObject({
    title: 'By hand',
    priority: 'none',
    labels: [{ name: 'feature' }],
  });
});

test('an issue that a run created is removed unless others have changed it since', async () => {
  const key = `U${++team}`;
  const { apiKey } = await app.addWorkspace(`Undo ${team}`, key);
  const call = app.clientOf(apiKey);
  await install(
    call,
    await packSource(`{
      id: 'com.test.undo-made', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
      on: { 'issue.created': { handle: async (event, ctx) => {
        const made = await ctx.issues.create({ team: '${key}', title: 'Follow-up of ' + event.data.title });
        await ctx.comments.create(made.id, { body: 'made by a plugin' });
      } } },
    }`),
  );
  for (const [title, isWorkedOn] of [
    ['Alone', false],
    ['Shared', true],
  ] as const) {
    await make(call, key, title);
    const run = await newestRun(call, 'com.test.undo-made');
    const created = run.effects.find(({ kind }: Json) => kind === 'issue').id;
    if (isWorkedOn) await call('POST', `/api/v1/issues/${created}/comments`, { body: 'I take this' });
    await app.settled();
    const undone = await undo(call, `runs/${run.id}`);
    const left = await readIssue(call, created);
    if (isWorkedOn) {
      const { data } = (await call('GET', `/api/v1/issues/${created}/history?limit=100`)).json;
      const comment = data.findLast(({ type }: Json) => type === 'comment.added');
      expect(undone.skipped).toMatchObject([
        { kind: 'issue', id: created, field: null, reason: 'worked_on', eventId: comment.id },
      ]);
      expect(undone.skipped[0].changedBy).toMatchObject({ id: comment.actor.id });
      expect(undone.message).toEndWith('1 skipped, because of later changes by others.');
      expect(left.deletedAt).toBe(null);
    } else {
      expect(undone.changes.map(({ kind, action }: Json) => [kind, action])).toEqual([
        ['comment', 'remove'],
        ['issue', 'remove'],
      ]);
      expect((await call('GET', `/api/v1/issues/${created}`)).status).toBe(404);
      await undo(call, `undos/${undone.id}`);
      expect((await readIssue(call, created)).title).toBe('Follow-up of Alone');
      expect((await comments(call, created)).length).toBe(1);
    }
  }
});

test('all runs of a plugin in a period are undone at once, several runs of one issue as one', async () => {
  const { call, issue, key, plugin } = await triaged('com.test.undo-range');
  const since = new Date(app.clock.now() + 1).toISOString();
  app.clock.advance(1_000);
  const second = await make(call, key, 'Two');
  // A person's change, to which the plugin responds with another run.
  await call('PATCH', `/api/v1/issues/${second.id}`, { priority: 'low' });
  await app.settled();
  expect(await readIssue(call, second.id)).toMatchObject({ priority: 'high', title: 'Two!' });

  const undone = await undo(call, `plugins/${plugin.pluginId}`, { since });
  expect(undone.undid.length).toBe(2);
  // The second run overwrote the person's priority, so that the undo stops there.
  expect(await readIssue(call, second.id)).toMatchObject({ priority: 'low', title: 'Two' });
  expect(undone.skipped).toMatchObject([
    { id: second.id, field: 'priority', reason: 'changed', now: 'low', changedBy: { kind: 'api_key' } },
  ]);
  expect(await readIssue(call, issue.id)).toMatchObject({ priority: 'high', title: 'One!' });
});

test('an undo needs the scopes of its writes, and an undo of a run without writes reports that', async () => {
  const { call, run, key } = await triaged('com.test.undo-rights');
  const minted = await call('POST', '/api/v1/api-keys', {
    name: 'narrow',
    scopes: ['plugins:write', 'issues:write'],
  });
  const narrow = app.clientOf(minted.json.token ?? minted.json.key ?? minted.json.secret);
  const refused = await narrow('POST', `/api/v1/runs/${run.id}/undo`);
  expect(refused).toMatchObject({ status: 403, json: { error: { code: 'insufficient_scope' } } });
  expect(refused.text).toContain('comments:write');

  await install(
    call,
    await packSource(`{
    id: 'com.test.undo-nothing', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
    on: { 'issue.created': { handle: async (event, ctx) => { await ctx.kv.set('seen', 1); } } },
  }`),
  );
  await make(call, key, 'Nothing');
  const idle = await newestRun(call, 'com.test.undo-nothing');
  const nothing = await call('POST', `/api/v1/runs/${idle.id}/undo`);
  expect(nothing.status).toBe(404);
  expect(nothing.text).toContain('it changed nothing');
});

test('relations and links of a run are removed and restored, and their issues emit events', async () => {
  const key = `U${++team}`;
  const { apiKey } = await app.addWorkspace(`Undo ${team}`, key);
  const call = app.clientOf(apiKey);
  const other = await make(call, key, 'Other');
  await install(
    call,
    await packSource(`{
      id: 'com.test.undo-relates', version: '1.0.0', engines: { tatami: '*' },
      scopes: { 'issues:write': { why: 'test' }, 'attachments:write': { why: 'test' } },
      on: { 'issue.created': { handle: async (event, ctx) => {
        await ctx.relations.create(event.data.id, { type: 'blocks', issueId: '${other.id}' });
        await ctx.attachments.create(event.data.id, { title: 'Log', url: 'https://example.com/log' });
      } }, 'issue.updated': { handle: async (event, ctx) => {
        for (const { id } of (await ctx.relations.list(event.data.id)).data) await ctx.relations.delete(id);
      } } },
    }`),
    { modes: { delete: 'apply' } },
  );
  const issue = await make(call, key, 'One');
  const parts = async (): Promise<string[][]> =>
    Promise.all(
      ['relations', 'attachments'].map(async (path) =>
        (await call('GET', `/api/v1/issues/${issue.id}/${path}`)).json.data.map(({ id }: Json) => id),
      ),
    );
  const created = await parts();
  expect(created.map(({ length }) => length)).toEqual([1, 1]);
  const creation = await newestRun(call, 'com.test.undo-relates');
  const undone = await undo(call, `runs/${creation.id}`);
  expect(undone.changes.map(({ kind, action }: Json) => [kind, action])).toEqual([
    ['attachment', 'remove'],
    ['relation', 'remove'],
  ]);
  expect(await parts()).toEqual([[], []]);

  const before = await end(call);
  const back = await undo(call, `undos/${undone.id}`);
  expect(back.changes).toMatchObject([
    { kind: 'relation', action: 'restore' },
    { kind: 'attachment', action: 'restore' },
  ]);
  expect(await parts()).toEqual(created);
  const emitted = await eventsAfter(call, before);
  expect(emitted.map(({ type, data }) => [type, data.relation?.id ?? data.attachment?.id])).toEqual([
    ['issue.relation_added', created[0]![0]],
    ['issue.relation_added', created[0]![0]],
    ['issue.attachment_added', created[1]![0]],
    ['automation.undone', undefined],
  ]);

  // The undo of that removes them again.
  const reverted = await undo(call, `undos/${back.id}`);
  expect(reverted.changes.map(({ kind, action }: Json) => [kind, action])).toEqual([
    ['attachment', 'remove'],
    ['relation', 'remove'],
  ]);
  expect(await parts()).toEqual([[], []]);
  await undo(call, `undos/${reverted.id}`);
  expect(await parts()).toEqual(created);

  await call('PATCH', `/api/v1/issues/${issue.id}`, { title: 'Two' });
  await app.settled();
  expect(await parts()).toEqual([[], created[1]!]);
  const removal = await newestRun(call, 'com.test.undo-relates');
  await undo(call, `runs/${removal.id}`);
  expect(await parts()).toEqual(created);

  // A replacement by others remains.
  await call('PATCH', `/api/v1/issues/${issue.id}`, { title: 'Three' });
  await app.settled();
  const again = await newestRun(call, 'com.test.undo-relates');
  const circle = { type: 'blocked_by', issueId: other.id };
  expect((await call('POST', `/api/v1/issues/${issue.id}/relations`, circle)).status).toBe(201);
  const refused = await undo(call, `runs/${again.id}`);
  expect(refused).toMatchObject({ id: null, skipped: [{ kind: 'relation', reason: 'irreversible' }] });
});
