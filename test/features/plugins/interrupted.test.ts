// Runs that are interrupted by the system.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { sidecarPids } from '../../sandbox/harness.ts';
import { installSchedule } from './pack.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

test('a run that is interrupted repeatedly loses no attempt, and ends once interruptions stop', async () => {
  await installSchedule(
    app.call,
    'com.test.cut',
    `async (_, ctx) => { await ctx.kv.increment('done'); if (!(await ctx.kv.get('let'))) await ctx.sleep(50_000); }`,
  );
  let cutting = true;
  const cut = (async () => {
    // The pause after a sidecar is ready grows until the run begins in it, however busy the machine is. The sidecar of
    // quarantined plugins, which starts only on an otherwise idle CPU, needs the longest.
    for (let pauseMs = 100; cutting;) {
      const { sandbox } = (await app.call('GET', '/readyz')).json;
      await Bun.sleep(sandbox === 'ready' ? pauseMs : 20);
      if (sandbox !== 'ready') continue;
      for (const pid of sidecarPids()) process.kill(pid, 'SIGKILL');
      pauseMs *= 1.3;
    }
  })();
  const reply = await app.call('POST', '/api/v1/plugins/com.test.cut/schedules/work/run');
  const look = async (): Promise<Json> => (await app.call('GET', `/api/v1/runs/${reply.json.id}`)).json;
  while ((await look()).status !== 'retrying') await Bun.sleep(20);
  expect(await look()).toMatchObject({ attempt: 0, error: { code: 'interrupted' } });
  cutting = false;
  await cut;
  await app.call('PUT', '/api/v1/plugins/com.test.cut/kv/let', { value: true });
  app.clock.advance(1_000);
  await app.settled();
  expect(await look()).toMatchObject({ status: 'succeeded', attempt: 1, error: null });
  expect((await app.call('GET', '/api/v1/plugins/com.test.cut/kv/done')).json.value).toBe(1);
  expect((await app.call('GET', '/api/v1/plugins/com.test.cut')).json.state).toBe('active');
}, 120_000);

test('a long schedule does not delay shutdown, and the next process runs it again', async () => {
  await installSchedule(
    app.call,
    'com.test.long',
    `async (_, ctx) => { await ctx.kv.increment('begun'); if (!(await ctx.kv.get('stopped'))) await ctx.sleep(50_000); }`,
  );
  await app.call('PUT', '/api/v1/plugins/com.test.long/kv/stopped', { value: false });
  const reply = await app.call('POST', '/api/v1/plugins/com.test.long/schedules/work/run');
  await Bun.sleep(300);
  const startedAt = performance.now();
  app = await app.restart();
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  await app.call('PUT', '/api/v1/plugins/com.test.long/kv/stopped', { value: true });
  app.clock.advance(60_000);
  await app.settled();
  const { json } = await app.call('GET', `/api/v1/runs/${reply.json.id}`);
  expect(json).toMatchObject({ status: 'succeeded', attempt: 1 });
}, 60_000);
