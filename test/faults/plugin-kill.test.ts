// A run of a plugin or of an automation is a transaction: regardless of the number of kills during runs, each issue is handled
// exactly once, and every effect has its event and its run.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, startApp, type Json } from '../app.ts';
import { enabled } from '../features/automations/rules.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { everything } from './oracle.ts';
import { handedOver } from './own-copy.ts';
import { clientOf, seededRandom, startServer } from './server.ts';

const kills = process.env.TATAMI_LONG ? 60 : 2;
const issuesEach = 40;

test(`${kills} kills of the core while a plugin and an automation work leave exactly-once effects`, async () => {
  const sourceDir = mkdtempSync(join(tmpdir(), 'tatami-plugin-kill-'));
  const app = await startApp({ dataDir: sourceDir, clock: createSystemClock() });
  await app.call('POST', '/api/v1/labels', { name: 'ruled' });
  await install(
    app.call,
    await packSource(`{
      id: 'com.test.exactly-once', version: '1.0.0', engines: { tatami: '*' }, partitions: 4,
      scopes: { 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' } },
      on: { 'issue.created': { handle: async (event, ctx) => {
        await ctx.comments.create(event.data.id, { body: 'handled' });
        await ctx.issues.update(event.data.id, { estimate: ((await ctx.issues.get(event.data.id)).estimate ?? 0) + 1 });
        await ctx.kv.increment(event.data.id);
      } } },
    }`),
  );
  const rule = await enabled(app, {
    trigger: { type: 'event', event: 'issue.created', filter: { title: { startsWith: 'Issue' } } },
    actions: [
      { type: 'add', field: 'labels', values: ['ruled'] },
      { type: 'comment', body: 'by the rule' },
    ],
  });
  const key = app.workspace.apiKey;
  await app.stop();
  const dir = handedOver(sourceDir);
  const random = seededRandom(7);
  let filed = 0;
  for (let kill = 0; kill < kills; kill++) {
    const { url, child } = await startServer(dir);
    const issues = Array.from({ length: issuesEach }, (_, index) => ({
      team: 'ENG',
      title: `Issue ${kill}-${index}`,
    }));
    expect((await clientOf(url, key)('POST', '/api/v1/issues/bulk', { issues })).status).toBe(201);
    filed += issuesEach;
    await Bun.sleep(random() * 250);
    child.kill('SIGKILL');
    await child.exited;
  }
  const { url, child } = await startServer(dir);
  const call = clientOf(url, key);
  const runsOf = (id: string): Promise<Json[]> => everything(call, `/plugins/${id}/runs`);
  const allRuns = async (): Promise<Json[]> => [
    ...(await runsOf('com.test.exactly-once')),
    ...(await runsOf(rule.id)),
  ];
  const statuses = async (): Promise<string[]> => (await allRuns()).map(({ status }) => status);
  // A run that ended without success stays unsuccessful.
  const isOver = (status: string): boolean => status === 'succeeded' || status === 'dead';
  while ((await statuses()).filter(isOver).length < 2 * filed) await Bun.sleep(50);
  expect(new Set(await statuses())).toEqual(new Set(['succeeded']));
  const issues = await everything(call, '/issues');
  expect(issues.length).toBe(filed);
  expect(issues.filter(({ estimate }) => estimate !== 1)).toEqual([]);
  const labeled = await everything(call, '/issues?label=ruled');
  expect(labeled.length).toBe(filed);
  // A key per issue, because partitions that write one key would wait for each other's retries.
  for (const { id } of issues)
    expect((await call('GET', `/api/v1/plugins/com.test.exactly-once/kv/${id}`)).json.value).toBe(1);
  const added = (await everything(call, '/events?types=comment.added')).map(
    (event: Json) => event.data.issue.id,
  );
  expect(added.length).toBe(2 * filed);
  expect(new Set(added).size).toBe(filed);
  const runs = await allRuns();
  expect(runs.length).toBe(2 * filed);
  const emitted = (await everything(call, '/events?types=automation.run')).map(
    (event: Json) => event.data.runId,
  );
  expect(emitted.toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
  child.kill('SIGTERM');
  await child.exited;
  rmSync(dir, { recursive: true, force: true });
}, 300_000);
