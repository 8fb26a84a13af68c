// `POST /runs/{id}/retry`: another attempt of the same run, only for runs that are dead or canceled.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createClock, startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { tatami } from '../../cli/tatami.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
const received: string[] = [];
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    received.push(`${request.headers.get('idempotency-key')} ${await request.text()}`);
    return new Response(`answer ${received.length}`);
  },
});
const origin = `http://127.0.0.1:${receiver.port}`;
beforeAll(
  async () => void (app = await startApp({ clock: createClock(), flags: { egressAllow: '127.0.0.1/32' } })),
);
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

const call: Client = (...args) => app.call(...args);
const put = async (id: string, version: string, definition: string, how: object = {}): Promise<Json> =>
  install(
    app.call,
    await packSource(
      `{ id: '${id}', version: '${version}', engines: { tatami: '*' }, scopes: ${allTrackerScopes}, ${definition} }`,
    ),
    how,
  );
/** Limits the handler to issues with one title, so that the plugins of this file do not interact. */
const onTitle = (title: string, body: string): string =>
  `on: { 'issue.created': { filter: { title: '${title}' }, handle: async (event, ctx) => { ${body} } } }`;
const file = async (title: string): Promise<Json> => {
  const { json } = await call('POST', '/api/v1/issues', { team: 'ENG', title });
  await app.settled();
  return json;
};
const runsOf = async (id: string): Promise<Json[]> =>
  (await call('GET', `/api/v1/plugins/${id}/runs`)).json.data;
const runOf = async (id: string): Promise<Json> => (await call('GET', `/api/v1/runs/${id}`)).json;
const retry = (id: string, by: Client = call) => by('POST', `/api/v1/runs/${id}/retry`);
const cancel = (id: string) => call('POST', `/api/v1/runs/${id}/cancel`);
const comments = async ({ id }: Json): Promise<string[]> =>
  (await call('GET', `/api/v1/issues/${id}/comments`)).json.data.map(({ body }: Json) => body);

const asks = `net: [{ origin: '${origin}', methods: ['POST'], path: '/', why: 'test', retry: 'never' }],`;
const fetching = (then: string): string =>
  `const answer = await (await ctx.fetch('${origin}/', { method: 'POST', body: event.data.id })).text();
   await ctx.comments.create(event.data.id, { body: answer }); await ctx.kv.increment('handled'); ${then}`;

test('a dead run succeeds after a fix: same run, next attempt, each effect and request once', async () => {
  await put('com.test.fixed', '1.0.0', `${asks} ${onTitle('fix', fetching(`throw new Drop('not yet');`))}`);
  const issue = await file('fix');
  const [dead] = await runsOf('com.test.fixed');
  expect(dead).toMatchObject({ status: 'dead', attempt: 1, error: { code: 'drop' } });
  expect([await comments(issue), received.length]).toEqual([[], 1]);

  await put('com.test.fixed', '1.0.1', `${asks} ${onTitle('fix', fetching(''))}`);
  await app.settled();
  const from = await app.lastSequence();
  const reply = await retry(dead.id);
  expect([reply.status, reply.json]).toMatchObject([
    202,
    { id: dead.id, status: 'queued', attempt: 1, error: null, finishedAt: null },
  ]);
  expect(reply.headers.get('location')).toEndWith(`/api/v1/runs/${dead.id}`);
  await app.settled();
  expect(await runOf(dead.id)).toMatchObject({
    ...{ status: 'succeeded', attempt: 2, error: null, pluginVersion: '1.0.1' },
    eventId: dead.eventId,
  });
  // The plugin sent the request once, and the second attempt got the stored answer.
  expect([await comments(issue), received.length]).toEqual([['answer 1'], 1]);
  expect((await call('GET', '/api/v1/plugins/com.test.fixed/kv/handled')).json.value).toBe(1);
  const types = (await app.eventTypes(from)).filter((type) => !type.startsWith('inbox.'));
  expect(types).toEqual(['comment.added', 'automation.run']);
  expect(await runsOf('com.test.fixed')).toHaveLength(1);
});

test('a run that fails again is dead again, with the error of its last attempt', async () => {
  await put('com.test.drops', '1.0.0', onTitle('drop', `throw new Drop('attempt ' + ctx.run.attempt);`));
  await file('drop');
  const [{ id }] = await runsOf('com.test.drops');
  expect((await retry(id)).status).toBe(202);
  await app.settled();
  expect(await runOf(id)).toMatchObject({
    status: 'dead',
    attempt: 2,
    error: { message: 'Drop: attempt 2' },
  });
});

test('concurrent retries queue one attempt', async () => {
  await put('com.test.twice', '1.0.0', onTitle('twice', `throw new Drop('no');`));
  await file('twice');
  const [{ id }] = await runsOf('com.test.twice');
  const replies = await Promise.all([retry(id), retry(id), retry(id)]);
  expect(replies.map(({ status }) => status).toSorted()).toEqual([202, 409, 409]);
  await app.settled();
  expect(await runOf(id)).toMatchObject({ status: 'dead', attempt: 2 });
});

const refused = async (id: string, status: string): Promise<void> => {
  expect((await runOf(id)).status).toBe(status);
  const { status: code, json } = await retry(id);
  expect([code, json.error.code, json.error.message]).toEqual([
    ...[409, 'conflict'],
    `This run is ${status}. Retry only runs that are dead or canceled.`,
  ]);
  expect((await runOf(id)).status).toBe(status);
};

test('runs that are open, proposed or succeeded are refused with 409', async () => {
  const id = 'com.test.states';
  const body = `if (event.data.title === 'stuck') throw new Error('stuck');`;
  await put(
    id,
    '1.0.0',
    `on: { 'issue.updated': { filter: { title: ['stuck', 'free'] }, handle(event) { ${body} } } }`,
  );
  const issue = await file('states');
  for (const title of ['stuck', 'free']) await call('PATCH', `/api/v1/issues/${issue.id}`, { title });
  await app.settled();
  const [queued, retrying] = await runsOf(id);
  await refused(queued.id, 'queued');
  await refused(retrying.id, 'retrying');
  await cancel(retrying.id);
  await app.settled();
  await refused(queued.id, 'succeeded');

  await put('com.test.sleeps', '1.0.0', onTitle('sleeps', 'await ctx.sleep(1_000);'));
  await call('POST', '/api/v1/issues', { team: 'ENG', title: 'sleeps' });
  while ((await runsOf('com.test.sleeps'))[0]?.status !== 'running') await Bun.sleep(5);
  const [running] = await runsOf('com.test.sleeps');
  await refused(running.id, 'running');
  await cancel(running.id);
  await app.settled();

  await put('com.test.waits', '1.0.0', onTitle('waits', ''));
  await call('PATCH', '/api/v1/plugins/com.test.waits', { budget: { runs: 0 } });
  await file('waits');
  await refused((await runsOf('com.test.waits'))[0].id, 'waiting');

  const proposes = onTitle('proposes', `await ctx.issues.update(event.data.id, { priority: 'high' });`);
  await put('com.test.proposes', '1.0.0', proposes, { mode: 'propose' });
  await file('proposes');
  await refused((await runsOf('com.test.proposes'))[0].id, 'proposed');
});

test('a canceled run can be retried once its attempt has ended', async () => {
  const id = 'com.test.canceled';
  await put(
    id,
    '1.0.0',
    onTitle(
      'cancel',
      `for (let waits = 0; waits < 90 && !(await ctx.kv.get('open')); waits++) await ctx.sleep(50);`,
    ),
  );
  await call('POST', '/api/v1/issues', { team: 'ENG', title: 'cancel' });
  while ((await runsOf(id))[0]?.status !== 'running') await Bun.sleep(5);
  const [run] = await runsOf(id);
  expect((await cancel(run.id)).json.status).toBe('canceled');
  await call('PUT', `/api/v1/plugins/${id}/kv/open`, { value: true });
  let reply = await retry(run.id);
  for (; reply.status === 409; reply = await retry(run.id)) {
    expect(reply.json.error.message).toContain('still ending');
    await Bun.sleep(5);
  }
  expect(reply.status).toBe(202);
  await app.settled();
  expect(await runOf(run.id)).toMatchObject({ status: 'succeeded', attempt: 1, error: null });
});

test('a run that a paused plugin gave up is refused until the plugin is active, and never runs for a removed one', async () => {
  const id = 'com.test.paused';
  await put(id, '1.0.0', onTitle('pause', `if (ctx.run.attempt === 1) throw new Error('not yet');`));
  for (let i = 0; i < 2; i++) await file('pause');
  await call('PATCH', `/api/v1/plugins/${id}`, { state: 'paused_by_admin' });
  app.clock.advance(60_000);
  await app.settled();
  const [first, second] = await runsOf(id);
  expect(first).toMatchObject({ status: 'canceled', error: { code: 'plugin_inactive' } });
  expect((await retry(first.id)).json.error.message).toStartWith('The plugin is paused_by_admin');
  await call('PATCH', `/api/v1/plugins/${id}`, { state: 'active' });
  expect((await retry(first.id)).status).toBe(202);
  await app.settled();
  expect(await runOf(first.id)).toMatchObject({ status: 'succeeded', attempt: 2 });
  await call('DELETE', `/api/v1/plugins/${id}`);
  const { status, json } = await retry(second.id);
  expect([status, json.error.message]).toEqual([409, expect.stringContaining('was removed')]);
});

test('a rejected run proposes again, and one with applied writes succeeds instead, so that they stay single', async () => {
  const id = 'com.test.rejected';
  const body = `await ctx.issues.update(event.data.id, { priority: 'high' });`;
  const comment = `await ctx.comments.create(event.data.id, { body: 'applied' });`;
  await put(id, '1.0.0', onTitle('reject', body), { mode: 'propose' });
  await file('reject');
  const reject = async (run: Json): Promise<Json> => {
    const path = `/api/v1/proposals/${run.proposalId}`;
    expect((await call('POST', `${path}/reject`, { reason: 'not now' })).status).toBe(200);
    await app.settled();
    return runOf(run.id);
  };
  const [first] = await runsOf(id);
  expect(await reject(first)).toMatchObject({ status: 'canceled', error: { code: 'proposal_rejected' } });
  expect((await retry(first.id)).json).toMatchObject({ status: 'queued', proposalId: null });
  await app.settled();
  const again = await runOf(first.id);
  expect(again).toMatchObject({ status: 'proposed', attempt: 2, error: null });
  expect(again.proposalId).not.toBe(first.proposalId);
  const path = `/api/v1/proposals/${again.proposalId}/approve`;
  const { apiKey } = { apiKey: await app.mintKey(['approvals:write', 'issues:write', 'proposals:read']) };
  expect((await app.clientOf(apiKey)('POST', path)).status).toBe(200);
  await app.settled();
  expect(await runOf(first.id)).toMatchObject({ status: 'succeeded', error: null });

  await put(id, '1.0.1', onTitle('reject', body + comment), { mode: 'apply', modes: { update: 'propose' } });
  const issue = await file('reject');
  const [partly] = await runsOf(id);
  expect(partly.status).toBe('proposed');
  expect(await reject(partly)).toMatchObject({ status: 'succeeded', error: null });
  expect((await retry(partly.id)).status).toBe(409);
  expect(await comments(issue)).toEqual(['applied']);
});

test('a retried run waits for the run of its issue that has started, and precedes those that have not', async () => {
  const id = 'com.test.order';
  const handler = (fixed: boolean): string =>
    `on: { 'issue.updated': { filter: { priority: ['low', 'medium', 'high'] }, handle: async ({ data }, ctx) => {
      if (${!fixed} && data.priority === 'low') throw new Drop('low');
      if (${!fixed} && data.priority === 'medium') throw new Error('medium');
      await ctx.comments.create(data.id, { body: data.priority });
    } } }`;
  await put(id, '1.0.0', handler(false));
  const issue = await file('order');
  for (const priority of ['low', 'medium', 'high'])
    await call('PATCH', `/api/v1/issues/${issue.id}`, { priority });
  await app.settled();
  const statuses = async (): Promise<string[]> => (await runsOf(id)).map(({ status }) => status);
  expect(await statuses()).toEqual(['queued', 'retrying', 'dead']);
  const dead = (await runsOf(id)).at(-1)!;
  expect((await retry(dead.id)).status).toBe(202);
  await app.settled();
  expect(await statuses()).toEqual(['queued', 'retrying', 'queued']);
  await put(id, '1.0.1', handler(true));
  await app.settled();
  expect(await statuses()).toEqual(['succeeded', 'succeeded', 'succeeded']);
  expect(await comments(issue)).toEqual(['medium', 'low', 'high']);
});

test('a run about a purged issue is refused with 410', async () => {
  const id = 'com.test.purged';
  const action = `actions: { fail: { target: 'issue', handle() { throw new Drop('no'); } } },`;
  await put(id, '1.0.0', `${action} ${onTitle('purge', `throw new Drop('no');`)}`);
  const issue = await file('purge');
  const { json: called } = await call('POST', `/api/v1/plugins/${id}/actions/fail`, { target: issue.id });
  await file('purge');
  const [other] = await runsOf(id);
  const of = `/api/v1/issues/${issue.id}`;
  await call('DELETE', of);
  expect((await call('POST', `${of}/purge`)).status).toBeLessThan(300);
  await app.settled();
  const ofEvent = (await runsOf(id)).at(-1)!;
  for (const run of [ofEvent, called]) {
    const { status, json } = await retry(run.id);
    expect([status, json.error.code]).toEqual([410, 'gone']);
    expect((await runOf(run.id)).status).toBe('dead');
  }
  expect((await retry(other.id)).status).toBe(202);
});

test('a retry needs the scopes of the plugin, in the workspace of the run', async () => {
  await put('com.test.rights', '1.0.0', onTitle('rights', `throw new Drop('no');`));
  await file('rights');
  const [{ id }] = await runsOf('com.test.rights');
  const reader = app.clientOf(await app.mintKey(['plugins:read', 'issues:write', 'comments:write']));
  const poor = app.clientOf(await app.mintKey(['plugins:write', 'issues:read']));
  const reads = ['plugins:write', 'issues:read', 'comments:read', 'labels:read', 'projects:read'];
  const seeing = app.clientOf(await app.mintKey(reads));
  for (const by of [reader, poor, seeing]) {
    const { status, json } = await retry(id, by);
    expect([status, json.error.code]).toEqual([403, 'insufficient_scope']);
  }
  const other = app.clientOf((await app.addWorkspace('Other', 'OTH')).apiKey);
  expect((await retry(id, other)).status).toBe(404);
  expect(await runOf(id)).toMatchObject({ status: 'dead', attempt: 1 });
});

test('the command line retries a run, waits for it and exits with its result', async () => {
  const id = 'com.test.command';
  await put(id, '1.0.0', onTitle('command', `if (ctx.run.attempt < 3) throw new Drop('no');`));
  await file('command');
  const [run] = await runsOf(id);
  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  const failed = await tatami(['runs', 'retry', run.id], remote);
  expect([failed.code, failed.out]).toEqual([1, expect.stringContaining('dead')]);
  const good = await tatami(['runs', 'retry', run.id], remote);
  expect([good.code, good.out]).toEqual([0, expect.stringContaining('succeeded')]);
});
