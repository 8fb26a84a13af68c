// `event.issue`: the issue of an event at the start of the run, as the API shows it to the plugin. It counts as a read.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { ownCalls } from '../../../core/features/plugins/host-calls/bridge.ts';
import type { GuestCall } from '../../../core/features/plugins/host-calls/gateway.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
/** A host call that waits for the test, and does not count as a read. */
const kvSet = ownCalls.get('kv.set')!;
let atGate: () => Promise<unknown> = async () => undefined;
const gated: GuestCall = {
  ...kvSet,
  async answer(call, args) {
    if (args[0] === 'gate') await atGate();
    return kvSet.answer(call, args);
  },
};

beforeAll(async () => {
  (ownCalls as Map<string, GuestCall>).set('kv.set', gated);
  app = await startApp();
});
afterEach(() => void (atGate = async () => undefined));
afterAll(async () => {
  (ownCalls as Map<string, GuestCall>).set('kv.set', kvSet);
  await app.stop();
});

const call = async (method: string, path: string, body?: object): Promise<Json> => {
  const { status, json } = await app.call(method, `/api/v1${path}`, body);
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(json)}`);
  return json;
};
const create = (title: string, more: object = {}): Promise<Json> =>
  call('POST', '/issues', { team: 'ENG', title, ...more });

/** Installs a plugin with one handler for the events. @returns its name */
async function listen(
  name: string,
  types: readonly string[],
  handle: string,
  { scopes = allTrackerScopes, more = '', grant }: { scopes?: string; more?: string; grant?: string[] } = {},
): Promise<string> {
  const id = `com.test.${name}`;
  const on = types.map((type) => `'${type}': { handle }`).join(', ');
  const source = `{ id: '${id}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${scopes}, ${more} on: { ${on} } }`;
  const document = await packSource(source, `const handle = async (event, ctx) => { ${handle} };`);
  await install(app.call, document, grant ? { grant } : {});
  return id;
}

/** Returns what the handler logged in each run, latest run first. */
async function logged(plugin: string): Promise<Json[]> {
  await app.settled();
  const { data } = await call('GET', `/plugins/${plugin}/runs?limit=100`);
  return data.map(({ logs }: Json) => JSON.parse(logs.at(-1)?.message ?? 'null'));
}

const remove = (plugin: string): Promise<Json> => call('DELETE', `/plugins/${plugin}`);
const show = 'ctx.log.info(JSON.stringify(Object.hasOwn(event, "issue") ? { issue: event.issue } : {}));';

test('the issue is as the API shows it, at the start of each attempt', async () => {
  const plugin = await listen(
    'start',
    ['issue.created'],
    `ctx.log.info(JSON.stringify({ issue: event.issue, title: event.data.title, own: await ctx.issues.get(event.data.id) }));
     if (ctx.run.attempt === 1) throw new RetryLater(1);`,
  );
  const { id } = await create('First');
  const [first] = await logged(plugin);
  expect(first.issue).toEqual(first.own);
  await call('PATCH', `/issues/${id}`, { title: 'Second' });
  app.clock.advance(1_000);
  const [second] = await logged(plugin);
  expect(second).toMatchObject({ title: 'First', issue: { id, title: 'Second', version: 2 } });
  expect(second.issue).toEqual(second.own);
  await remove(plugin);
});

test('events of parts of an issue have the issue, and other events have none', async () => {
  const types = [
    'comment.added',
    'reaction.added',
    'issue.subscribed',
    'issue.relation_added',
    'sla.started',
    'label.created',
  ];
  const plugin = await listen(
    'parts',
    types,
    'ctx.log.info(JSON.stringify([event.type, event.issue?.title ?? null]));',
  );
  const [one, other] = [await create('One'), await create('Other')];
  await call('POST', `/issues/${one.id}/comments`, { body: 'Hello' });
  await call('POST', `/issues/${one.id}/reactions`, { emoji: '👍' });
  await call('POST', `/issues/${one.id}/relations`, { type: 'blocks', issueId: other.id });
  await call('DELETE', `/subscribers/${one.id}/me`);
  await call('PUT', `/subscribers/${one.id}/me`);
  await call('POST', '/sla-policies', { name: 'Late', targetMinutes: 60, filter: { title: 'Late' } });
  await create('Late');
  await call('POST', '/labels', { name: 'New' });
  const seen = new Map((await logged(plugin)) as [string, string | null][]);
  expect(Object.fromEntries(types.map((type) => [type, seen.get(type)]))).toEqual({
    'comment.added': 'One',
    'reaction.added': 'One',
    'issue.subscribed': 'One',
    'issue.relation_added': 'One',
    'sla.started': 'Late',
    'label.created': null,
  });
  await remove(plugin);
});

for (const [isolation, title, runs] of [
  ['serializable', 'After', 2],
  ['none', 'Before', 1],
] as const)
  test(`a change of the issue during the run conflicts: ${isolation}`, async () => {
    const plugin = await listen(
      `conflict-${isolation}`,
      ['issue.created'],
      `await ctx.kv.set('gate', 1);
       await ctx.comments.create(event.data.id, { body: event.issue.title });`,
      { more: `isolation: '${isolation}',` },
    );
    let tries = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    const changed = Promise.withResolvers<void>();
    atGate = async () => {
      if (++tries > 1) return;
      resolve();
      await changed.promise;
    };
    const { id } = await create('Before');
    await promise;
    await call('PATCH', `/issues/${id}`, { title: 'After' });
    changed.resolve();
    await app.settled();
    const { data } = await call('GET', `/issues/${id}/comments`);
    expect(data.map(({ body }: Json) => body)).toEqual([title]);
    expect(tries).toBe(runs);
    await remove(plugin);
  });

test('an issue deleted before the run is null', async () => {
  const plugin = await listen(
    'deleted',
    ['issue.created'],
    `${show} if (ctx.run.attempt === 1) throw new RetryLater(1);`,
  );
  const { id } = await create('Gone');
  expect((await logged(plugin))[0].issue).toMatchObject({ id });
  await call('DELETE', `/issues/${id}`);
  app.clock.advance(1_000);
  expect(await logged(plugin)).toEqual([{ issue: null }]);
  await remove(plugin);
});

test('fields outside the grant are absent', async () => {
  const plugin = await listen('fields', ['issue.created'], show, {
    scopes: "{ 'issues:read': { why: 'test', fields: ['priority'] } }",
  });
  const { id } = await create('Hidden', { priority: 'high' });
  const times = { createdAt: expect.any(String), updatedAt: expect.any(String) };
  expect(await logged(plugin)).toEqual([{ issue: { id, priority: 'high', version: 1, ...times } }]);
  await remove(plugin);
});

test('an issue that the plugin cannot see is absent', async () => {
  await call('POST', '/teams', { key: 'OPS', name: 'Operations' });
  const comments = "'comments:read': { why: 'test' }";
  const without = await listen('without', ['comment.added'], show, { scopes: `{ ${comments} }` });
  const narrowed = await listen('narrowed', ['comment.added'], show, {
    scopes: `{ ${comments}, 'issues:read': { why: 'test', where: { team: ['OPS'] } } }`,
  });
  const ungranted = await listen('ungranted', ['comment.added'], show, {
    scopes: `{ ${comments}, 'issues:read': { why: 'test' } }`,
    grant: ['comments:read'],
  });
  for (const team of ['ENG', 'OPS']) {
    const { id } = await create(team, { team });
    await call('POST', `/issues/${id}/comments`, { body: 'Hello' });
    await app.settled();
  }
  expect(await logged(without)).toEqual([{}, {}]);
  expect(await logged(ungranted)).toEqual([{}, {}]);
  const [ops, eng] = await logged(narrowed);
  expect([ops.issue.title, eng]).toEqual(['OPS', {}]);
  for (const plugin of [without, narrowed, ungranted]) await remove(plugin);
});

test('the longest descriptions fit, and are cut', async () => {
  const plugin = await listen(
    'long',
    ['issue.updated'],
    'ctx.log.info(JSON.stringify([event.data, event.data.previous, event.issue].map((one) => one.description.length)));',
  );
  const text = 'x'.repeat(70_000);
  const { id } = await create('Long', { description: text });
  await call('PATCH', `/issues/${id}`, { description: `${text}y` });
  const most = 64 * 1024;
  expect(await logged(plugin)).toEqual([[most, most, most]]);
  await remove(plugin);
});

test('a replay sees the recorded issue, and a backtest the issue as of the event', async () => {
  const plugin = await listen('then', ['issue.created', 'comment.added'], show);
  const { id } = await create('Then');
  await call('POST', `/issues/${id}/comments`, { body: 'Hello' });
  await app.settled();
  await call('PATCH', `/issues/${id}`, { title: 'Now' });
  const { data } = await call('GET', `/plugins/${plugin}/runs?limit=1`);
  expect(await call('POST', `/runs/${data[0].id}/replay`, {})).toMatchObject({ result: 'identical' });
  const told = await packSource(
    `{ id: 'com.test.told', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
       on: { 'comment.added': { handle: ({ issue }, ctx) => ctx.issues.update(issue.id, { description: issue.title }) } } }`,
  );
  const { id: backtest } = await call('POST', '/backtests', { package: told });
  await app.settled();
  const { report } = await call('GET', `/backtests/${backtest}`);
  const ofIssue = report.effects.filter(({ issueId }: Json) => issueId === id);
  expect(ofIssue.map(({ wouldBe }: Json) => wouldBe)).toEqual(['Then']);
  await remove(plugin);
});
