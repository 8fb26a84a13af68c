// Limits count CPU time: on a busy machine, and in a sidecar with a tenth of the CPU, regular code completes and
// hostile code is stopped.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { burnCores, slowDown } from '../slow-machine.ts';
import {
  jobOf,
  eventLimits,
  openSandbox,
  pluginOf,
  runToEnd,
  sidecarPids,
  standbyAtOnce,
  until,
} from './harness.ts';
import type { TestSandbox } from './harness.ts';

let sandbox: TestSandbox;

beforeEach(async () => {
  sandbox = await openSandbox({ after: standbyAtOnce });
  await until('the standby is warm', () => sandbox.status().sidecars.length === 2);
});
afterEach(() => sandbox.stop());

/** Work of roughly this much CPU time without a JIT, in one stretch. */
const work = (ms: number): string => `let n = 0; for (let i = 0; i < ${ms * 14_000}; i++) n += i % 7;`;
const slices = (count: number, ms: number): string =>
  `for (let slice = 0; slice < ${count}; slice++) { ${work(ms)} await ctx.issues.get(1); }`;

const slow: [name: string, make: () => Disposable][] = [
  ['every core is overloaded twofold', () => burnCores(2)],
  ['the sidecars get a tenth of their time', () => slowDown(sidecarPids, 0.1)],
];

// Overloaded cores are tested in the long form only: burners take CPU from every concurrent test, and a run of all
// tests keeps the cores busy anyway.
for (const [name, make] of process.env.TATAMI_LONG ? slow : slow.slice(1))
  describe(`while ${name}`, () => {
    test('regular runs succeed, at once, and cost the same as on a quiet machine', async () => {
      const code = await pluginOf(slices(6, 15));
      // The first run also starts an isolate and compiles the code.
      await runToEnd(sandbox, jobOf('ins_honest', code));
      const quiet = await runToEnd(sandbox, jobOf('ins_honest', code));
      using _slow = make();
      const outcomes = await Promise.all(
        Array.from({ length: 4 }, (_, index) => sandbox.run(jobOf(`ins_honest_${index}`, code))),
      );
      for (const outcome of outcomes) {
        expect(outcome.status).toBe('succeeded');
        // A virtual machine is sometimes slower by half. In wall time it would be a factor of ten.
        expect(outcome.cpuMs).toBeGreaterThan(quiet.cpuMs / 4);
        expect(outcome.cpuMs).toBeLessThan(Math.max(quiet.cpuMs * 4, 80));
      }
    });

    test('a loop is still stopped for its CPU time, and concurrent regular runs continue', async () => {
      using _slow = make();
      // Concurrent runs are charged equal parts of the usage of their process, the kernel's late accounting included.
      const limits = { ...eventLimits, cpuMs: 1000, entryMs: 500 };
      const honest = runToEnd(sandbox, jobOf('ins_honest', await pluginOf(slices(4, 10)), { limits }));
      const hostile = await runToEnd(sandbox, jobOf('ins_loop', await pluginOf('for (;;);')));
      expect(hostile).toMatchObject({ status: 'failed', reason: 'cpu', killed: true });
      expect((await honest).status).toBe('succeeded');
    });

    test('the wall-time limit applies to runs that only wait, and not to time spent waiting for the CPU or the host', async () => {
      using _slow = make();
      const limits = { ...eventLimits, wallMs: 400, cpuMs: 1000 };
      const waiting = await runToEnd(
        sandbox,
        jobOf('ins_waits', await pluginOf('await ctx.sleep(60_000);'), { limits }),
      );
      expect(waiting).toMatchObject({ status: 'failed', reason: 'wall' });
      const call = async (): Promise<{ ok: true; value: string }> => {
        await Bun.sleep(100);
        return { ok: true, value: 'null' };
      };
      const served = await runToEnd(
        sandbox,
        jobOf('ins_served', await pluginOf(slices(8, 5)), { limits, call }),
      );
      expect(served.status).toBe('succeeded');
    });
  });
