// The flight recorder stores the input of a run with its end, and a replay is bit for bit equal or shows the first
// difference.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { storeRecordingOp } from '../../../core/features/plugins/recorder/recording.ts';
import { scopeOf } from '../../../core/platform/store/store.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { tatami } from '../../cli/tatami.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

/**
 * Uses every source of nondeterminism: clock, random numbers, timers, concurrent reads, module state, and caught
 * errors.
 */
const everything = (priority = 'high'): string => `{
  id: 'com.test.everything', version: '1.0.0', engines: { tatami: '*' }, partitions: 4, scopes: ${allTrackerScopes},
  on: { 'issue.created': { handle: async (event, ctx) => {
    const began = Date.now();
    const fired = [];
    const timer = setTimeout(() => fired.push('timer ' + (Date.now() - began)), 3);
    const [issue, labels, issues, seen] = await Promise.all([
      ctx.issues.get(event.data.id), ctx.labels.list(),
      ctx.issues.list({ limit: 1 + Math.floor(Math.random() * 5) }), ctx.kv.get('seen'),
    ]);
    const reads = Array.from({ length: 9 }, (_, n) => ctx.kv.get('key-' + n).then(() => { fired.push(n + '@' + (Date.now() - began)); }));
    await Promise.race(reads);
    const missing = await ctx.issues.get('iss_' + '0'.repeat(26)).catch((error) => error.code + ': ' + error.message);
    await Promise.all(reads);
    await ctx.sleep(Math.floor(Math.random() * 6));
    await ctx.kv.set('key-' + Math.floor(Math.random() * 9), { id: crypto.randomUUID(), at: Date.now(), order: fired });
    await ctx.kv.increment('count');
    await ctx.kv.set('seen', [...(seen ?? []).slice(-3), issue.identifier, Math.random()]);
    await ctx.issues.update(issue.id, { priority: '${priority}' });
    ctx.log.info(missing, timer, fired, labels.data.length, issues.data.map((one) => one.title), Date.now() - began, Math.random());
  } } },
}`;

const create = async (title: string): Promise<void> => {
  const { status } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title });
  expect(status).toBe(201);
};
const runsOf = async (plugin: string): Promise<Json[]> =>
  (await app.call('GET', `/api/v1/plugins/${plugin}/runs?limit=100`)).json.data;
const replay = async (run: string, document?: object): Promise<Json> => {
  const body = document ? { package: document } : {};
  const { status, json } = await app.call('POST', `/api/v1/runs/${run}/replay`, body);
  expect([status, json]).toEqual([200, json]);
  // The limit is ten a minute.
  app.clock.advance(6_100);
  return json;
};
/** Changes the recording of a run. */
async function tamper(run: string, change: (recording: Json) => void): Promise<void> {
  const { json } = await app.call('GET', `/api/v1/runs/${run}/recording`);
  change(json);
  const data = Bun.zstdCompressSync(JSON.stringify(json));
  await app.services.store.commit([storeRecordingOp(scopeOf(app.workspace.workspaceId), run, data, 0)]);
}

test('twenty runs with clock, random numbers, timers and concurrent calls are replayed bit for bit', async () => {
  await install(app.call, await packSource(everything()));
  for (let batch = 0; batch < 4; batch++) {
    await Promise.all(Array.from({ length: 5 }, (_, n) => create(`Issue ${batch}-${n} ${'é'.repeat(n)}`)));
    await app.settled();
  }
  const runs = await runsOf('com.test.everything');
  expect(runs.length).toBe(20);
  const before = await app.lastSequence();
  for (const run of runs) {
    expect(run).toMatchObject({ status: 'succeeded', recording: { truncated: false } });
    expect([run.id, await replay(run.id)]).toMatchObject([run.id, { result: 'identical', divergence: null }]);
  }
  await app.settled();
  expect([await app.lastSequence(), (await runsOf('com.test.everything')).length]).toEqual([before, 20]);
}, 60_000);

test('other code on a recording diverges by call, argument and field, and its calls have no effect', async () => {
  const [run] = await runsOf('com.test.everything');
  const calls = (await app.call('GET', `/api/v1/runs/${run.id}/recording`)).json.calls as Json[];
  const update = calls.find(({ op }) => op === 'issues.update');
  expect(await replay(run.id, await packSource(everything('low')))).toMatchObject({
    result: 'diverged',
    divergence: {
      ...{ call: update.call, op: 'issues.update', argument: 2, field: '/priority' },
      ...{ recorded: 'high', replayed: 'low' },
    },
  });
  const other = (body: string): Promise<object> =>
    packSource(everything().replace('const began = Date.now();', `const began = Date.now(); ${body}`));
  expect(await replay(run.id, await other(`await ctx.kv.set('a', 1);`))).toMatchObject({
    divergence: { call: 1, op: 'sleep', recorded: { op: 'sleep' }, replayed: { op: 'kv.set' } },
  });
  expect(await replay(run.id, await other('return;'))).toMatchObject({
    divergence: { call: 1, op: 'sleep', recorded: { op: 'sleep', args: [3] }, replayed: null },
  });
  const loop = await replay(run.id, await other('for (;;);'));
  expect(loop).toMatchObject({ result: 'diverged', divergence: { call: 1, replayed: null } });
  expect(loop.cpuMs).toBeLessThan(1_000);
  const flood = `const all = []; for (;;) all.push(ctx.kv.set('a', all.length));`;
  expect(await replay(run.id, await other(flood))).toMatchObject({ result: 'diverged' });
  const asking = everything().replace(
    'ctx.log.info(missing',
    `await ctx.kv.set('a', 1); ctx.log.info(missing`,
  );
  expect(await replay(run.id, await packSource(asking))).toMatchObject({
    divergence: { call: calls.length + 1, op: 'kv.set', recorded: null, replayed: { args: ['a', 1] } },
  });
  const said = everything().replace('ctx.log.info(missing', `ctx.log.info('x', missing`);
  expect(await replay(run.id, await packSource(said))).toMatchObject({
    divergence: { call: null, field: '/logs/0/message' },
  });
  // The plugin itself is not affected.
  expect((await app.call('GET', '/api/v1/plugins/com.test.everything')).json.state).toBe('active');
  expect((await app.call('GET', '/api/v1/plugins/com.test.everything/kv/a')).status).toBe(404);
}, 60_000);

test('code of another plugin, or without the handler of the run, is refused by name', async () => {
  const [run] = await runsOf('com.test.everything');
  const refused = async (definition: string): Promise<unknown> => {
    const body = { package: await packSource(definition) };
    const { status, json } = await app.call('POST', `/api/v1/runs/${run.id}/replay`, body);
    return [status, json.error.details[0].path, json.error.message];
  };
  expect(await refused(everything().replace('com.test.everything', 'com.test.stranger'))).toEqual([
    ...[422, 'package'],
    expect.stringContaining(
      'The code is of the plugin com.test.stranger, but the run is of com.test.everything.',
    ),
  ]);
  expect(await refused(everything().replace('issue.created', 'issue.updated'))).toEqual([
    ...[422, 'package'],
    expect.stringContaining(
      'no handler event:issue.created, which this run used; its handlers are event:issue.updated.',
    ),
  ]);
});

test('a changed response in a recording diverges where the run used it', async () => {
  const [, run] = await runsOf('com.test.everything');
  await tamper(run.id, ({ calls }) => {
    const read = calls.find(({ op }: Json) => op === 'issues.get');
    read.answer.value = read.answer.value.replace(/"identifier":"[^"]*"/, '"identifier":"ENG-0"');
  });
  expect(await replay(run.id)).toMatchObject({
    divergence: { op: 'kv.set', argument: 2, replayed: 'ENG-0' },
  });
  await tamper(run.id, ({ calls }) => void calls.forEach((one: Json) => (one.elapsedMs += 5)));
  expect(await replay(run.id)).toMatchObject({ result: 'diverged' });
});

test('failed runs are replayed to the same error, with their calls that were not awaited', async () => {
  const document = await packSource(`{
    id: 'com.test.fails', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
    on: { 'issue.created': { handle: async (event, ctx) => {
      const issue = await ctx.issues.get(event.data.id);
      if (issue.title === 'loop') for (;;);
      if (issue.title === 'wait') await new Promise(() => {});
      if (issue.title === 'fine') { void ctx.kv.set('late', Date.now()); return; }
      void ctx.issues.list().catch(() => {});
      throw issue.title === 'drop' ? new Drop('not for us') : new Error('broke at ' + Date.now());
    } } },
  }`);
  await install(app.call, document);
  for (const title of ['drop', 'fine', 'loop']) await create(title);
  await app.settled();
  // A killed run has one more attempt. Runs in the same sidecar are interrupted by the kill, and run again.
  const isWaiting = async (): Promise<boolean> =>
    (await runsOf('com.test.fails')).some(({ status }) => status === 'retrying');
  while (await isWaiting()) {
    app.clock.advance(3_600_000);
    await app.settled();
  }
  const runs = await runsOf('com.test.fails');
  expect(runs.map(({ status }) => status).toSorted()).toEqual(['dead', 'dead', 'succeeded']);
  for (const run of runs)
    expect([run.error, await replay(run.id)]).toMatchObject([run.error, { result: 'identical' }]);
}, 60_000);

test('the command replays a run in the server, and with the plugin of a folder', async () => {
  const [run] = await runsOf('com.test.everything');
  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  const dir = mkdtempSync(join(tmpdir(), 'tatami-replay-'));
  const write = (definition: string): void =>
    writeFileSync(
      join(dir, 'plugin.ts'),
      `import { definePlugin } from '@tatami/sdk/plugin';\nexport default definePlugin<any, any>(${definition});\n`,
    );
  try {
    write(everything());
    const local = ['runs', 'replay', run.id, '--local', dir];
    const [there, here] = [await tatami(['runs', 'replay', run.id], remote), await tatami(local, remote)];
    expect([there, here]).toMatchObject([
      { code: 0, out: expect.stringMatching(/^identical /) },
      { code: 0, out: expect.stringMatching(/^identical /) },
    ]);
    write(everything().replace('com.test.everything', 'com.test.stranger'));
    expect(await tatami(local, remote)).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        'The code is of the plugin com.test.stranger, but the run is of com.test.everything.',
      ),
    });
    write(everything('low'));
    const { code, out } = await tatami(local, remote);
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(
        /^diverged at call \d+, issues\.update, argument 2: \/priority .*\n {2}recorded: "high"\n {2}replayed: "low"\n$/,
      ),
    ]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}, 60_000);

test("a recording is read and replayed with the plugin's read and write scopes, ten times a minute", async () => {
  const [run] = await runsOf('com.test.everything');
  const path = `/api/v1/runs/${run.id}`;
  const all = [
    'plugins:read',
    'plugins:write',
    'issues:read',
    'comments:read',
    'labels:read',
    'projects:read',
  ];
  const fullReader = app.clientOf(await app.mintKey(all));
  expect((await fullReader('GET', `${path}/recording`)).status).toBe(200);
  expect((await fullReader('POST', `${path}/replay`, {})).json.error.code).toBe('insufficient_scope');
  const blind = app.clientOf(await app.mintKey(['plugins:read']));
  expect((await blind('GET', `${path}/recording`)).json.error.code).toBe('insufficient_scope');
  const stranger = app.clientOf((await app.addWorkspace('Other', 'OTH')).apiKey);
  expect((await stranger('GET', `${path}/recording`)).status).toBe(404);
  expect((await stranger('POST', `${path}/replay`, {})).status).toBe(404);
  app.clock.advance(60_000);
  const statuses: number[] = [];
  for (let n = 0; n < 11; n++) statuses.push((await app.call('POST', `${path}/replay`, {})).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
});

test('a recording beyond the size limit is marked and cannot be replayed', async () => {
  const document = await packSource(`{
    id: 'com.test.long', version: '1.0.0', engines: { tatami: '*' }, limits: { cpuMs: 1000 },
    schedules: { grow: { cron: '0 0 1 1 *', handle: async (_, ctx) => {
      let text = '';
      for (let n = 0; n < 30_000; n++) text += crypto.randomUUID();
      await ctx.kv.set('big', text);
      await ctx.kv.get('big');
    } } },
  }`);
  await install(app.call, document);
  const { json } = await app.call('POST', '/api/v1/plugins/com.test.long/schedules/grow/run');
  await app.settled();
  const run = (await app.call('GET', `/api/v1/runs/${json.id}`)).json;
  expect(run).toMatchObject({ status: 'succeeded', recording: { bytes: 0, truncated: true } });
  expect((await app.call('POST', `/api/v1/runs/${json.id}/replay`, {})).json.error.code).toBe('conflict');
});
