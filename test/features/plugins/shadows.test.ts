// A shadow version runs beside the installed one on live events: it writes and sends nothing, has at most the grant of
// the install, and its differences are reported field by field.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { tatami } from '../../cli/tatami.ts';
import { install, packSource } from './pack.ts';

let app: TestApp;
let plugin: Json;
beforeAll(async () => {
  app = await startApp();
  plugin = await install(app.call, await packSource(versionOf('1.0.0', 'high')));
});
afterAll(() => app.stop());

/** Both versions count in their own values. */
function versionOf(version: string, priority: string, more = '', scopes = ''): string {
  return `{
    id: 'com.test.beside', version: '${version}', engines: { tatami: '*' },
    scopes: { 'issues:write': { why: 'test' }, ${scopes} },
    on: { 'issue.created': { handle: async (event, ctx) => {
      const issue = await ctx.issues.get(event.data.id);
      if (issue.priority !== 'none') throw new Error('This was done before.');
      const estimate = await ctx.kv.increment('times');
      await ctx.issues.update(issue.id, { priority: issue.title.startsWith('Bug') ? '${priority}' : 'low', estimate });
      ${more}
    } } },
  }`;
}

const path = (): string => `/api/v1/plugins/${plugin.id}/shadow`;
const readShadow = async (): Promise<Json> => (await app.call('GET', path())).json;

async function begin(source: string): Promise<Json> {
  const { status, json } = await app.call('POST', path(), { package: await packSource(source) });
  expect([status, json.error ?? null]).toEqual([201, null]);
  return json;
}

async function create(title: string): Promise<Json> {
  const { json } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title });
  await app.settled();
  return (await app.call('GET', `/api/v1/issues/${json.id}`)).json;
}

test('a shadow reads what the original run read, and its differences are reported', async () => {
  expect((await create('Bug before')).estimate).toBe(1);
  expect(await begin(versionOf('2.0.0', 'urgent'))).toMatchObject({
    isRunning: true,
    pluginVersion: '2.0.0',
  });
  expect(
    (await app.call('POST', path(), { package: await packSource(versionOf('2.0.0', 'urgent')) })).status,
  ).toBe(409);
  const bug = await create('Bug');
  expect(await create('Wish')).toMatchObject({ priority: 'low', estimate: 3 });
  expect(bug).toMatchObject({ priority: 'high', estimate: 2, version: 2 });
  const { report, waiting } = await readShadow();
  expect(waiting).toBe(0);
  expect(report).toMatchObject({ runs: 2, same: 1, different: 1, failed: 0, dropped: 0 });
  expect(report.cpuMs).toBeGreaterThan(0);
  expect(report.differences).toMatchObject([
    {
      type: 'issue.created',
      fields: [{ object: `issue ${bug.id}`, field: 'priority', real: 'high', shadow: 'urgent' }],
    },
  ]);
});

test('a shadow continues after a restart, and the command shows it', async () => {
  app = await app.restart();
  await create('Wish after');
  expect((await readShadow()).report).toMatchObject({ runs: 3, same: 2, different: 1 });
  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  const { code, out } = await tatami(['plugins', 'shadow', 'com.test.beside'], remote);
  expect([code, out]).toEqual([0, expect.stringContaining('runs 3: 2 same, 1 different, 0 failed')]);
  expect(out).toContain('priority: "high" → "urgent"');
});

test('an upgrade stops the shadow, and its counts remain', async () => {
  await install(app.call, await packSource(versionOf('1.1.0', 'high')));
  await app.settled();
  expect(await readShadow()).toMatchObject({ isRunning: false, stoppedBy: 'upgraded', report: { runs: 3 } });
  expect((await app.call('DELETE', path())).status).toBe(409);
});

test('a shadow has at most the grant of the install, and sends nothing', async () => {
  const asking = `await ctx.comments.create(issue.id, { body: 'Said.' });`;
  await begin(versionOf('3.0.0', 'high', asking, `'comments:write': { why: 'test' }`));
  const issue = await create('Wish for more');
  const { report } = await readShadow();
  expect(report).toMatchObject({ runs: 1, different: 1, failed: 1 });
  expect(JSON.stringify(report.differences[0].fields)).toContain('comments:write');
  expect((await app.call('GET', `/api/v1/issues/${issue.id}/comments`)).json.data).toEqual([]);
  expect((await app.call('DELETE', path())).status).toBe(204);
  await create('Nobody looks');
  expect(await readShadow()).toMatchObject({ isRunning: false, stoppedBy: 'asked', report: { runs: 1 } });
});

test('at most a hundred runs wait for a shadow, and dropped runs are counted', async () => {
  const waiting = (version: string, handle: string) =>
    packSource(`{ id: 'com.test.waiting', version: '${version}', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
      on: { 'issue.created': { order: 'none', handle: ${handle} } } }`);
  plugin = await install(app.call, await waiting('1.0.0', '() => {}'));
  const slower = await waiting('2.0.0', '(_, ctx) => ctx.sleep(200)');
  expect((await app.call('POST', path(), { package: slower })).status).toBe(201);
  const file = () => app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Wish' });
  let most = 0;
  const look = async (): Promise<Json> => {
    const { waiting: now, report } = await readShadow();
    most = Math.max(most, now);
    return report;
  };
  await Promise.all(Array.from({ length: 110 }, file));
  let full = await look();
  for (; full.dropped < 3; full = await look()) await file();
  // A run in progress during the drop ends, and the count stays complete.
  let later = await look();
  for (; later.runs === full.runs; later = await look()) await Bun.sleep(20);
  expect(later.dropped).toBeGreaterThanOrEqual(full.dropped);
  expect(most).toBeGreaterThan(90);
  expect(most).toBeLessThanOrEqual(100);
  expect((await app.call('DELETE', path())).status).toBe(204);
  expect(await readShadow()).toMatchObject({ isRunning: false, waiting: 0 });
  expect((await readShadow()).report.dropped).toBeGreaterThanOrEqual(later.dropped);
});
