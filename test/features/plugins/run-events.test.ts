// `automation.run` and `automation.failed` are emitted once each in the batch that ends the run, and a run shows its
// plugin version.
import { expect, test } from 'bun:test';
import type { Json } from '../../app.ts';
import { hooksOfFile } from '../webhooks/receiver.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

const { hooks, receiver } = await hooksOfFile();
const { app } = hooks;

const definition = (id: string, version: string, more: string): string =>
  `{ id: '${id}', version: '${version}', engines: { tatami: '*' }, scopes: ${allTrackerScopes}, ${more} }`;
/** Limits the handler to issues with one title, so that the plugins of this file do not interact. */
const onTitle = (title: string, body: string): string =>
  `on: { 'issue.created': { filter: { title: '${title}' }, handle: async (event, ctx) => { ${body} } } }`;

async function put(id: string, version: string, more: string, how: object = {}): Promise<Json> {
  return install(app.call, await packSource(definition(id, version, more)), how);
}

async function file(title: string): Promise<Json> {
  const { json } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title });
  await app.settled();
  return json;
}

const runsOf = async (id: string): Promise<Json[]> =>
  (await app.call('GET', `/api/v1/plugins/${id}/runs`)).json.data;
const eventsAfter = async (sequence: number): Promise<Json[]> =>
  (await app.call('GET', `/api/v1/events?limit=100&after=${sequence}`)).json.data;
const typesAfter = async (sequence: number): Promise<string[]> =>
  (await eventsAfter(sequence)).map(({ type }) => type);
const last = async (): Promise<number> => {
  await app.settled();
  return app.lastSequence();
};

test('a run with changes emits one event after its changes, and the event triggers no run of its own', async () => {
  const installed = await put(
    'com.test.changes',
    '1.2.3',
    onTitle(
      'change',
      `await ctx.issues.update(event.data.id, { priority: 'high' });
       await ctx.comments.create(event.data.id, { body: 'Looked at.' });
       await ctx.kv.increment('seen');`,
    ),
  );
  const from = await last();
  await file('change');
  const [run] = await runsOf('com.test.changes');
  // The creator of the issue is notified of the result.
  const events = (await eventsAfter(from)).filter(({ type }) => !type.startsWith('inbox.'));
  expect(events.map(({ type }) => type)).toEqual([
    'issue.created',
    'issue.updated',
    'comment.added',
    'automation.run',
  ]);
  const runEvent = events.at(-1)!;
  expect(runEvent).toMatchObject({
    actor: { kind: 'plugin', id: installed.id, name: 'com.test.changes' },
    cause: { rootEventId: events[0]!.id, parentRunId: run.id, depth: 1 },
  });
  expect(runEvent.data).toEqual({
    ...{ runId: run.id, installId: installed.id, pluginId: 'com.test.changes', pluginVersion: '1.2.3' },
    ...{ handler: 'issue.created', handlerKind: 'event', eventId: events[0]!.id, mode: 'apply' },
    ...{
      status: 'succeeded',
      attempt: 1,
      calls: 3,
      changed: 2,
      fetches: 0,
      proposalId: null,
      ruleId: null,
      errorCode: null,
    },
  });
  expect(run.events.map(({ type }: Json) => type)).toEqual(['issue.updated', 'comment.added']);
  const path = `/api/v1/issues/${events[0]!.data.id}/history`;
  expect((await app.call('GET', path)).text).not.toContain('automation.run');

  const before = await last();
  const again = await app.call('POST', `/api/v1/runs/${run.id}/replay`, {});
  expect([again.status, again.json.result]).toEqual([200, 'identical']);
  expect(await last()).toBe(before);
});

test('a run without effects, with private values only, or in simulate mode emits no event', async () => {
  await put('com.test.idle', '1.0.0', onTitle('idle', ''));
  await put('com.test.counts', '1.0.0', onTitle('idle', `await ctx.kv.increment('seen');`));
  const simulates = onTitle('idle', `await ctx.issues.update(event.data.id, { priority: 'low' });`);
  await put('com.test.simulates', '1.0.0', simulates, { mode: 'simulate' });
  await put('com.test.drops', '1.0.0', onTitle('idle', `throw new Drop('no');`), { mode: 'simulate' });
  const from = await last();
  await file('idle');
  const ended = await Promise.all(
    ['idle', 'counts', 'simulates', 'drops'].map((name) => runsOf(`com.test.${name}`)),
  );
  expect(ended.map(([run]) => run.status)).toEqual(['succeeded', 'succeeded', 'succeeded', 'dead']);
  expect(await typesAfter(from)).toEqual(['issue.created']);
});

test('a run that proposes emits its event with the proposal', async () => {
  const proposes = onTitle('ask', `await ctx.issues.update(event.data.id, { priority: 'low' });`);
  await put('com.test.asks', '1.0.0', proposes, { mode: 'propose' });
  const from = await last();
  await file('ask');
  const [{ proposalId }] = await runsOf('com.test.asks');
  const runEvent = (await eventsAfter(from)).filter(({ type }) => type === 'automation.run');
  expect(runEvent.map(({ data }) => data)).toMatchObject([{ mode: 'propose', changed: 0, proposalId }]);
});

test('a failed run emits its event after the last attempt, with the error code and no text of the plugin', async () => {
  await put(
    'com.test.fails',
    '1.0.0',
    onTitle('fail', `throw new Error('ttm_secret of ' + event.data.title);`),
  );
  const from = await last();
  await file('fail');
  const path = '/api/v1/plugins/com.test.fails/runs';
  const run = async (): Promise<Json> => (await app.call('GET', path)).json.data[0];
  for (let tries = 1; (await run()).status !== 'dead'; tries++) {
    expect(tries).toBeLessThan(20);
    expect(await typesAfter(from)).toEqual(['issue.created']);
    app.clock.advance(3_600_000);
    await app.settled();
  }
  const ended = await run();
  const runEvent = (await eventsAfter(from)).filter(({ type }) => type.startsWith('automation.'));
  expect(runEvent).toMatchObject([
    {
      type: 'automation.failed',
      cause: { parentRunId: ended.id },
      data: { status: 'dead', attempt: ended.attempt, changed: 0, errorCode: 'error' },
    },
  ]);
  expect(ended.attempt).toBeGreaterThan(1);
  expect(JSON.stringify(runEvent)).not.toContain('ttm_secret');
});

test('a canceled run emits a failure by the caller who canceled it', async () => {
  await put('com.test.stuck', '1.0.0', onTitle('stuck', `throw new Error('not yet');`));
  await file('stuck');
  const [run] = await runsOf('com.test.stuck');
  const from = await last();
  expect((await app.call('POST', `/api/v1/runs/${run.id}/cancel`)).status).toBe(200);
  app.clock.advance(3_600_000);
  await app.settled();
  expect(await eventsAfter(from)).toMatchObject([
    {
      type: 'automation.failed',
      actor: { kind: 'api_key' },
      data: { runId: run.id, pluginId: 'com.test.stuck', errorCode: 'canceled' },
    },
  ]);
});

test('a run that was abandoned while its plugin was disabled can be backfilled, and emits its event after it has run', async () => {
  const body = `if (ctx.run.attempt === 1) throw new Error('once'); await ctx.issues.update(event.data.id, { priority: 'low' });`;
  await put('com.test.rests', '1.0.0', onTitle('rest', body));
  const from = await last();
  await file('rest');
  const path = '/api/v1/plugins/com.test.rests';
  await app.call('PATCH', path, { state: 'paused_by_admin' });
  app.clock.advance(3_600_000);
  await app.settled();
  expect((await runsOf('com.test.rests'))[0].error.code).toBe('plugin_inactive');
  expect((await typesAfter(from)).filter((type) => type.startsWith('automation.'))).toEqual([]);
  await app.call('PATCH', path, { state: 'active' });
  expect((await app.call('POST', `${path}/catch-up`, {})).status).toBe(202);
  await app.settled();
  expect((await runsOf('com.test.rests'))[0].status).toBe('succeeded');
  expect((await typesAfter(from)).filter((type) => type.startsWith('automation.'))).toEqual([
    'automation.run',
  ]);
});

test('a run shows its own plugin version, independently of the installed one', async () => {
  await put('com.test.versions', '1.0.0', onTitle('version', ''));
  await file('version');
  await put('com.test.versions', '1.1.0', onTitle('version', `throw new Error('x');`));
  await file('version');
  await put('com.test.versions', '2.0.0', onTitle('version', ''));
  await app.settled();
  const runs = await runsOf('com.test.versions');
  expect(runs.map(({ pluginVersion, status }) => [pluginVersion, status])).toEqual([
    ['2.0.0', 'succeeded'],
    ['1.0.0', 'succeeded'],
  ]);
  for (const { id, pluginVersion, pluginId } of runs) {
    const { json } = await app.call('GET', `/api/v1/runs/${id}`);
    expect([json.pluginVersion, json.pluginId]).toEqual([pluginVersion, pluginId]);
  }
});

test('a plugin subscription to run events is refused with the reason', async () => {
  for (const type of ['automation.run', 'automation.failed']) {
    const document = await packSource(definition('com.test.hears', '1.0.0', onTitle('x', '')));
    const manifest = {
      ...document.manifest,
      on: { [type]: {} },
      handlers: [`event:${type}`],
      scopes: { 'automations:read': { why: 'test' } },
    };
    const { status, json } = await app.call('POST', '/api/v1/plugins', {
      package: { ...document, manifest },
      grant: ['automations:read'],
    });
    expect([status, json.error.details[0].path]).toEqual([422, `package.manifest.on.${type}`]);
    expect(json.error.message + json.error.details[0].fix).toContain('Plugins cannot subscribe to');
  }
});

test('webhooks can subscribe to run events and filter them', async () => {
  await put('com.test.quits', '1.0.0', onTitle('hook', `throw new Drop('no');`));
  const works = onTitle('hook', `await ctx.issues.update(event.data.id, { priority: 'low' });`);
  const { id } = await put('com.test.works', '1.0.0', works);
  const failed = await hooks.register(receiver.url, {
    events: ['automation.failed'],
    filter: { status: 'dead' },
  });
  const own = await hooks.register(receiver.url, {
    events: ['automation.run', 'automation.failed'],
    filter: { installId: id },
  });
  await file('hook');
  const deliveredTypes = async (endpoint: Json): Promise<string[]> =>
    (await hooks.deliveries(endpoint)).map(({ eventType }) => eventType);
  expect([await deliveredTypes(failed), await deliveredTypes(own)]).toEqual([
    ['automation.failed'],
    ['automation.run'],
  ]);
});

test('a caller without automations:read reads no events of runs', async () => {
  const narrow = app.clientOf(await app.mintKey(['events:read', 'issues:read']));
  const { json } = await narrow('GET', '/api/v1/events?limit=100');
  expect(json.data.map(({ type }: Json) => type)).not.toContain('automation.run');
  expect((await app.call('GET', '/api/v1/events?limit=100')).text).toContain('"automation.run"');
});
