// During a long computation of one run, other runs are not slowed down and the sandbox stops at once. Both are measured
// in wall time, so this file runs alone.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { jobOf, eventLimits, openSandbox, pluginOf, standbyAtOnce, until } from './harness.ts';
import type { TestSandbox } from './harness.ts';

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await openSandbox({ after: standbyAtOnce });
  await until('the standby is warm', () => sandbox.status().sidecars.length === 2);
}, 60_000);
afterAll(() => sandbox.stop());

/** Work of roughly this much CPU time without a JIT, in one stretch. */
const work = (ms: number): string => `let n = 0; for (let i = 0; i < ${ms * 14_000}; i++) n += i % 7;`;

test('a schedule may compute in one long stretch, without slowing down other runs', async () => {
  const limits = { ...eventLimits, cpuMs: 5000, entryMs: 5000 };
  const long = sandbox.run(jobOf('ins_long', await pluginOf(work(1500)), { limits, fresh: true }));
  const code = await pluginOf('await ctx.issues.get(1);');
  const tookMs: number[] = [];
  let ended = false;
  void long.finally(() => (ended = true));
  while (!ended) {
    const startedAt = performance.now();
    expect((await sandbox.run(jobOf('ins_other', code))).status).toBe('succeeded');
    tookMs.push(performance.now() - startedAt);
  }
  expect((await long).status).toBe('succeeded');
  // Longer than the limit of an event, also on a machine that is several times as fast as usual.
  expect((await long).cpuMs).toBeGreaterThan(eventLimits.entryMs);
  expect(tookMs.length).toBeGreaterThan(20);
  expect(tookMs.sort((a, b) => a - b)[Math.floor(tookMs.length / 2)]).toBeLessThan(100);
});

test('the sandbox stops at once during a long computation', async () => {
  const limits = { ...eventLimits, cpuMs: 10_000, entryMs: 10_000 };
  const long = sandbox.run(jobOf('ins_long', await pluginOf('for (;;);'), { limits, fresh: true }));
  await Bun.sleep(200);
  const startedAt = performance.now();
  await sandbox.stop();
  expect((await long).status).toBe('interrupted');
  expect(performance.now() - startedAt).toBeLessThan(2000);
});
