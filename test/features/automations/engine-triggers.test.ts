// Triggers, selection, limits and requests of rules.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { rulesOf } from './engine-rules.ts';

let app: TestApp;
const { ok, issue, get, rule, run, lastRun } = rulesOf(() => app);
const received: { method: string; path: string; headers: Headers; body: string }[] = [];
let answer = 200;
const receiver = Bun.serve({
  ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 0 },
  async fetch(request) {
    const { method, headers, url } = request;
    received.push({ method, path: new URL(url).pathname, headers, body: await request.text() });
    return new Response('{}', { status: answer });
  },
});
const origin = `http://127.0.0.1:${receiver.port}`;

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.1/32' } });
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

const uninstall = (id: string): Promise<Json> => ok('DELETE', `/plugins/${id}`);

describe('an event', () => {
  test('runs the rule on its issue, with the event, its actor and the previous values in templates', async () => {
    const one = await issue();
    const body =
      '{{ event.actor.name }}: {{ previous.priority }} to {{ event.data.priority }} ({{ event.type }}, {{ rule.name }})';
    const id = await rule([{ type: 'comment', body }], { on: ['issue.updated'] });
    await ok('PATCH', `/issues/${one.id}`, { priority: 'high' });
    await app.settled();
    await uninstall(id);
    const { data } = await ok('GET', `/issues/${one.id}/comments`);
    expect(data.map(({ body }: Json) => body)).toEqual([
      'First key: none to high (issue.updated, Automations)',
    ]);
  });

  test('skips `conditions.issue` only if the server has tested it', async () => {
    const actions = [{ type: 'add', field: 'estimates', values: [] }];
    const conditions = { issue: { priority: 'urgent' } };
    const tested = await rule(actions, { on: ['issue.created'], conditions, matched: true });
    const untested = await rule(actions, { on: ['issue.created'], conditions, matched: false });
    const one = await issue();
    expect((await lastRun(tested)).logs).toEqual([]);
    expect((await lastRun(untested)).logs).toMatchObject([
      { message: `Skipped ${one.identifier}: the issue does not match.` },
    ]);
    await Promise.all([tested, untested].map(uninstall));
  });

  test('of a deleted issue is skipped by actions that change it, and selects others with its data', async () => {
    const parent = await issue();
    const one = await issue({ parentId: parent.id, title: 'Gone' });
    const on = ['issue.deleted'];
    const set = { type: 'set', fields: { priority: 'low' } };
    const skips = await rule([set], { on });
    const selects = await rule([{ ...set, fields: { title: 'Lost {{ event.data.title }}' } }], {
      ...{ on, issues: { filter: { id: '{{ event.data.parent.id }}' } } },
    });
    await ok('DELETE', `/issues/${one.id}`);
    await app.settled();
    expect(await lastRun(skips)).toMatchObject({
      status: 'succeeded',
      logs: [{ message: 'Skipped the event: its issue was deleted.' }],
    });
    expect((await get(parent)).title).toBe('Lost Gone');
    await Promise.all([skips, selects].map(uninstall));
  });

  test('without an issue runs actions that need none, and names those that do', async () => {
    const create = await rule(
      [{ type: 'create', as: 'issue', issues: [{ title: '{{ event.data.name }}', team: 'ENG' }] }],
      {
        on: ['project.created'],
      },
    );
    const set = await rule([{ type: 'set', fields: { priority: 'low' } }], { on: ['project.created'] });
    await ok('POST', '/projects', { name: 'Apollo' });
    await app.settled();
    expect((await ok('GET', '/issues?limit=1')).data[0].title).toBe('Apollo');
    expect((await lastRun(create)).status).toBe('succeeded');
    expect((await lastRun(set)).error.message).toContain('Action 1 (set): The trigger has no issue.');
    await Promise.all([create, set].map(uninstall));
  });
});

describe('selected issues', () => {
  test('are those of the filter with templates, instead of the issue of the trigger', async () => {
    const one = await issue({ title: 'Login' });
    const [same, other] = [await issue({ title: 'Login' }), await issue({ title: 'Other' })];
    const filter = {
      and: [{ title: '{{ issue.title }}', team: '{{ issue.team }}' }, { id: { neq: '{{ issue.id }}' } }],
    };
    const id = await rule([{ type: 'set', fields: { priority: 'low' } }], { issues: { filter } });
    expect((await run(id, one)).result).toEqual({ acted: [same.identifier], skipped: [], left: [] });
    expect((await Promise.all([one, same, other].map(get))).map(({ priority }) => priority)).toEqual([
      ...['none', 'low', 'none'],
    ]);
  });

  test('are at most `limit`, the oldest ones', async () => {
    const [first] = [await issue({ title: 'Batch' }), await issue({ title: 'Batch' })];
    const issues = { filter: { title: 'Batch' }, limit: 1 };
    const id = await rule([{ type: 'set', fields: { priority: 'low' } }], { issues });
    const { result, logs } = await ok('POST', `/plugins/${id}/actions/start`, {});
    expect(result.acted).toEqual([first!.identifier]);
    expect(logs[0].message).toBe('More than 1 issues match. The rule acts on the oldest 1.');
  });

  test('must meet the conditions each, if the trigger has no issue', async () => {
    const parent = await issue();
    const [part, alone] = [
      await issue({ title: 'Each', parentId: parent.id }),
      await issue({ title: 'Each' }),
    ];
    const id = await rule([{ type: 'set', fields: { priority: 'low' } }], {
      issues: { filter: { title: 'Each' } },
      conditions: { parent: { exists: true } },
    });
    const { result } = await ok('POST', `/plugins/${id}/actions/start`, {});
    expect(result).toEqual({
      acted: [part.identifier],
      skipped: [`${alone.identifier}: it has no parent.`],
      left: [],
    });
  });
});

describe('the limits of a run', () => {
  const title = 'Many';
  const comments = Array.from({ length: 6 }, (_, index) => ({ type: 'comment', body: `Step ${index}` }));
  const countOf = async (one: Json): Promise<number> =>
    (await ok('GET', `/issues/${one.id}/comments`)).data.length;
  let many: Json[] = [];
  beforeAll(async () => {
    many = [];
    for (let count = 0; count < 40; count++) many.push(await ok('POST', '/issues', { team: 'ENG', title }));
    await app.settled();
  });

  test('leave whole issues out, and the run names them', async () => {
    const id = await rule(comments, { issues: { filter: { title } } });
    const { result, logs } = await ok('POST', `/plugins/${id}/actions/start`, {});
    expect(result.acted.length).toBe(16);
    expect(result.left).toEqual(many.slice(16).map(({ identifier }) => identifier));
    expect(logs[0].message).toStartWith('Left out 24 issues, because a run makes at most 100 calls: ENG-');
    expect(await Promise.all(many.slice(14, 18).map(countOf))).toEqual([6, 6, 0, 0]);
  });

  test('make a schedule continue until each issue was handled once, also if the filter no longer matches', async () => {
    const set = { type: 'set', fields: { title: 'Handled' } };
    const id = await rule([...comments.slice(1), set], {
      issues: { filter: { title } },
      members: `schedules:{scheduled:{...plugin_default.schedules.scheduled,cron:'0 3 * * *'}},`,
    });
    await ok('POST', `/plugins/${id}/schedules/scheduled/run`);
    await app.settled();
    const { data } = await ok('GET', `/plugins/${id}/runs`);
    expect(data.map(({ status, progress }: Json) => [status, progress])).toEqual([
      ['succeeded', { done: 40, of: 40, unit: 'issues' }],
      ['succeeded', { done: 32, of: 40, unit: 'issues' }],
      ['succeeded', { done: 16, of: 40, unit: 'issues' }],
    ]);
    const counts = await Promise.all(many.map(countOf));
    expect(counts).toEqual([...Array(16).fill(11), ...Array(24).fill(5)]);
    expect((await app.call('GET', `/api/v1/plugins/${id}/kv/position`)).status).toBe(404);
  });
});

test('an unchanged issue is due once with its conditions, and a deleted one is skipped', async () => {
  const [one, gone] = [await issue(), await issue()];
  await ok('DELETE', `/issues/${gone.id}`);
  const id = await rule([{ type: 'comment', body: 'Stale.' }], {
    members: `actions:{plan:{target:'none',handle:async(_,ctx)=>{
      for(const issue of ['${one.id}','${gone.id}'])await ctx.schedule.once('due:'+issue,ctx.now()+60000,{issue})}}},`,
  });
  await ok('POST', `/plugins/${id}/actions/plan`, {});
  app.clock.advance(60_000);
  await app.settled();
  const { data } = await ok('GET', `/plugins/${id}/runs?limit=2`);
  expect(data.map(({ handler, status }: Json) => [handler, status])).toEqual(
    Array(2).fill(['due', 'succeeded']),
  );
  expect(data.flatMap(({ logs }: Json) => logs.map(({ message }: Json) => message))).toEqual([
    `Skipped ${gone.id}: the issue was deleted.`,
  ]);
  expect((await ok('GET', `/issues/${one.id}/comments`)).data.length).toBe(1);
});

test('a signed request starts the rule with its JSON body, and other bodies are refused', async () => {
  const id = await rule([{ type: 'comment', body: 'Build {{ webhook.build }} failed.' }], {
    issues: { filter: { identifier: '{{ webhook.issue }}' } },
  });
  const one = await issue();
  const { url, secret } = await ok('POST', `/plugins/${id}/routes/hook/open`);
  const send = async (body: string): Promise<Response> => {
    const seconds = Math.floor(app.clock.nowMs() / 1000);
    const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
    const response = await fetch(app.url + new URL(url).pathname, {
      ...{ method: 'POST', body },
      headers: { 'content-type': 'application/json', 'x-webhook-signature': `v1=${signature},t=${seconds}` },
    });
    await app.settled();
    return response;
  };
  const response = await send(JSON.stringify({ build: 7, issue: one.identifier }));
  expect([response.status, await response.json()]).toEqual([
    200,
    { acted: [one.identifier], skipped: [], left: [] },
  ]);
  expect((await ok('GET', `/issues/${one.id}/comments`)).data[0].body).toBe('Build 7 failed.');
  const refused = await send('build 7');
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { code: 'malformed_request' } },
  ]);
});

describe('http', () => {
  const host = { origin, secret: null, header: null };
  const net = `net:[{origin:'${origin}',why:'test'}],secrets:{KEY:{hosts:['${origin}'],header:'authorization',format:'Bearer {}'}},`;
  const send = (more: object = {}): object => ({
    ...{ type: 'http', host: 'crm', method: 'POST', path: '/v1/issues/{{ issue.identifier }}' },
    ...more,
  });

  test('sends a rendered request with complete objects, and no secret that the host does not need', async () => {
    const one = await issue({ priority: 'high' });
    const body = { title: 'New: {{ issue.title }}', team: '{{ issue.team }}', labels: '{{ issue.labels }}' };
    const id = await rule([send({ headers: { 'X-Kind': '{{ issue.priority }}' }, body })], {
      hosts: { crm: host },
      members: net,
    });
    expect(await run(id, one)).toMatchObject({ status: 'succeeded', error: null });
    const last = received.at(-1)!;
    expect([last.method, last.path]).toEqual(['POST', `/v1/issues/${one.identifier}`]);
    expect(last.headers.get('x-kind')).toBe('high');
    expect([last.headers.get('content-type'), last.headers.get('authorization')]).toEqual([
      'application/json',
      null,
    ]);
    expect(JSON.parse(last.body)).toEqual({ title: 'New: One', team: one.team, labels: [] });
  });

  test('sends the secret of the host once it is set', async () => {
    const one = await issue();
    const hosts = { crm: { ...host, secret: 'KEY', header: 'authorization' } };
    const id = await rule([send({ body: 'Hello {{ issue.title }}' })], { hosts, members: net });
    expect((await run(id, one)).error.message).toContain('The host crm has no secret.');
    await ok('PUT', `/plugins/${id}/secrets/KEY`, { value: 'sk_live_12345' });
    expect((await run(id, one)).status).toBe('succeeded');
    const { headers, body } = received.at(-1)!;
    expect([headers.get('authorization'), headers.get('content-type'), body]).toEqual([
      ...['Bearer sk_live_12345', 'text/plain', 'Hello One'],
    ]);
  });

  test('names unknown hosts, wrong paths and refusals of the receiver', async () => {
    const one = await issue();
    const errorOf = async (action: object): Promise<string> => {
      const { error } = await run(await rule([action], { hosts: { crm: host }, members: net }), one);
      return error.message;
    };
    expect(await errorOf(send({ host: 'erp' }))).toContain('The host "erp" is unknown.');
    expect(await errorOf(send({ path: 'v1' }))).toContain('The path must start with a slash');
    answer = 503;
    expect(await errorOf(send())).toContain(
      `POST ${origin}/v1/issues/${one.identifier} was answered with status 503.`,
    );
    answer = 200;
  });
});
