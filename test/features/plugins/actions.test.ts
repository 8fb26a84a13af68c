// Actions of plugins run with the scopes that the calling key and the plugin share.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

let app: TestApp;
let issue: Json;
let reader: Client;
let stranger: Client;
const path = '/api/v1/plugins/com.test.act';

beforeAll(async () => {
  app = await startApp();
  await install(
    app.call,
    await packSource(`{
      id: 'com.test.act', version: '1.0.0', engines: { tatami: '*' },
      scopes: { 'issues:write': { why: 'test', fields: ['priority', 'title'] }, 'comments:write': { why: 'test' } },
      actions: {
        retriage: {
          target: 'issue', title: 'Triage again',
          input: { type: 'object', required: ['priority'], additionalProperties: false, properties: { priority: { type: 'string' }, note: { type: 'string', default: 'none', maxLength: 20 } } },
          handle: async ({ target, input, caller }, ctx) => {
            await ctx.issues.update(target.id, { priority: input.priority });
            return { was: target.priority, note: input.note, by: caller.id, mayWrite: ctx.has('issues:write') };
          },
        },
        look: { target: 'none', handle: async (_, ctx) => (await ctx.comments.list('${'ENG-1'}')).data.length },
        later: { target: 'none', handle: async (_, ctx) => { await ctx.schedule.once('write', ctx.now() + 1000, 1); } },
        slow: { target: 'none', handle: async (_, ctx) => { while (!(await ctx.kv.get('go'))) await ctx.sleep(20); return 'went'; } },
        long: { target: 'none', handle: () => 'x'.repeat(30_000) },
        odd: { target: 'none', handle: () => JSON.parse('{"__proto__":1}') },
        none: { target: 'none', handle: () => {} },
        fails: { target: 'none', handle: () => { throw new Error('no'); } },
      },
      schedules: { write: { handle: async (_, ctx) => { await ctx.issues.update('ENG-1', { title: 'Laundered' }); } } },
    }`),
  );
  issue = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'One' })).json;
  reader = app.clientOf(await app.mintKey(['issues:read']));
  stranger = app.clientOf(await app.mintKey(['webhooks:read']));
});
afterAll(() => app.stop());

test("an action responds with its run and the handler's result, and the history names the caller", async () => {
  const { json: list } = await reader('GET', `${path}/actions`);
  expect(list.data[0]).toMatchObject({ name: 'retriage', target: 'issue', title: 'Triage again' });
  await app.settled();
  const after = await app.lastSequence();
  const { status, json } = await app.call('POST', `${path}/actions/retriage`, {
    target: 'ENG-1',
    input: { priority: 'high' },
  });
  expect([status, json.status, json.handlerKind]).toEqual([200, 'succeeded', 'action']);
  expect(json.result).toMatchObject({ was: 'none', note: 'none', mayWrite: true });
  await app.settled();
  const { json: events } = await app.call('GET', `/api/v1/events?after=${after}`);
  expect(events.data.map(({ type }: Json) => type)).toEqual([
    'issue.updated',
    'automation.run',
    'inbox.item_created',
  ]);
  expect(events.data[0]).toMatchObject({
    type: 'issue.updated',
    actor: { kind: 'plugin' },
    cause: { parentRunId: json.id, depth: 1, onBehalfOf: { kind: 'api_key', id: json.result.by } },
    data: { priority: 'high', previous: { priority: 'none' } },
  });
});

test("a caller cannot make the plugin write or read anything beyond the caller's own scopes, now or later", async () => {
  const wrote = await reader('POST', `${path}/actions/retriage`, {
    target: 'ENG-1',
    input: { priority: 'low' },
  });
  expect([wrote.status, wrote.json.status, wrote.json.calls[0].code]).toEqual([
    200,
    'dead',
    'insufficient_scope',
  ]);
  expect((await reader('POST', `${path}/actions/look`, {})).json.error.message).toContain('comments:read');
  const seen = await stranger('POST', `${path}/actions/retriage`, {
    target: 'ENG-1',
    input: { priority: 'low' },
  });
  expect([seen.status, seen.json.error.code]).toEqual([403, 'insufficient_scope']);
  expect((await reader('POST', `${path}/actions/later`, {})).json.status).toBe('succeeded');
  app.clock.advance(1_000);
  await app.settled();
  const [laundered] = (await app.call('GET', `${path}/runs?limit=1`)).json.data;
  expect(laundered).toMatchObject({ handler: 'write', calls: [{ code: 'insufficient_scope' }] });
  expect((await app.call('GET', `/api/v1/issues/${issue.id}`)).json).toMatchObject({
    title: 'One',
    priority: 'high',
  });
});

test('a one-time job of a revoked key is not run', async () => {
  const { json: key } = await app.call('POST', '/api/v1/api-keys', {
    name: 'gone',
    scopes: ['issues:write'],
  });
  await app.clientOf(key.key)('POST', `${path}/actions/later`, {});
  await app.call('DELETE', `/api/v1/api-keys/${key.id}`);
  app.clock.advance(1_000);
  await app.settled();
  const [run] = (await app.call('GET', `${path}/runs?limit=1`)).json.data;
  expect(run).toMatchObject({ handler: 'write', status: 'dead', error: { code: 'unauthorized' } });
});

test('target and input are validated, and each invalid field is named', async () => {
  const refused = async (body: object, action = 'retriage'): Promise<Json> =>
    (await app.call('POST', `${path}/actions/${action}`, body)).json.error;
  expect(
    (await refused({ target: 'ENG-1', input: { note: 'x'.repeat(30), more: 1 } })).details.map(
      ({ path }: Json) => path,
    ),
  ).toEqual(expect.arrayContaining(['input.priority', 'input.note', 'input.more']));
  expect((await refused({ input: { priority: 'low' } })).details[0].path).toBe('target');
  expect((await refused({ target: 'ENG-999', input: { priority: 'low' } })).details[0].path).toBe('target');
  expect((await refused({ target: 'ENG-1' }, 'none')).details[0].path).toBe('target');
  expect((await refused({ input: { a: 1 } }, 'none')).details[0].path).toBe('input.a');
  expect((await app.call('POST', `${path}/actions/constructor`, {})).status).toBe(404);
  expect((await app.clientOf(null)('POST', `${path}/actions/none`, {})).status).toBe(401);
});

test('a slow action responds with its run, which its caller may read, and an idempotency key runs it once', async () => {
  const headers = { 'idempotency-key': 'slow-1' };
  const asking = reader('POST', `${path}/actions/slow`, {}, headers);
  while ((await app.call('GET', `${path}/runs?limit=1`)).json.data[0].handler !== 'slow') await Bun.sleep(10);
  app.clock.advance(5_000);
  const reply = await asking;
  expect([reply.status, reply.json.result]).toEqual([202, null]);
  await app.call('PUT', `${path}/kv/go`, { value: true });
  await app.settled();
  const location = new URL(reply.headers.get('location')!).pathname;
  expect((await reader('GET', location)).json).toMatchObject({ status: 'succeeded', result: 'went' });
  expect((await stranger('GET', location)).status).toBe(404);
  expect((await reader('POST', `${path}/actions/slow`, {}, headers)).json.id).toBe(reply.json.id);
  expect(
    (await app.call('GET', `${path}/runs`)).json.data.filter(({ handler }: Json) => handler === 'slow'),
  ).toHaveLength(1);
});

test('a failure is reported at once and not retried, and a result has a maximum size', async () => {
  const call = async (name: string): Promise<Json> =>
    (await app.call('POST', `${path}/actions/${name}`, {})).json;
  expect(await call('fails')).toMatchObject({ status: 'dead', error: { code: 'error' } });
  expect(await call('long')).toMatchObject({
    status: 'dead',
    error: { code: 'invalid_result', message: expect.stringContaining('20,480') },
  });
  expect(await call('odd')).toMatchObject({ status: 'dead', error: { code: 'invalid_result' } });
  expect(await call('none')).toMatchObject({ status: 'succeeded', result: null });
});

test('simulate mode returns the effects and writes nothing, and an action of a paused plugin is refused', async () => {
  await app.call('PATCH', path, { mode: 'simulate' });
  const { json } = await app.call('POST', `${path}/actions/retriage`, {
    target: 'ENG-1',
    input: { priority: 'low' },
  });
  expect(json.effects[0].values.priority).toEqual({ before: 'high', after: 'low' });
  expect((await app.call('GET', `/api/v1/issues/${issue.id}`)).json.priority).toBe('high');
  await app.call('PATCH', path, { state: 'paused_by_admin' });
  expect((await app.call('POST', `${path}/actions/none`, {})).status).toBe(409);
  await app.call('PATCH', path, { state: 'active', mode: 'apply' });
});
