// Fault matrix row 5: a plugin that crashes its process, or is killed for its resource usage, then runs in quarantine.
// Its sidecar runs only while no other process needs the CPU, so this file runs alone.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import {
  eventLimits,
  jobOf,
  openSandbox,
  pluginOf,
  runToEnd,
  sidecarPids,
  standbyAtOnce,
  until,
} from './harness.ts';
import type { TestSandbox } from './harness.ts';
import { startVictims, victimsResume } from './victims.ts';
import type { Victims } from './victims.ts';

let sandbox: TestSandbox;
let victims: Victims;

beforeEach(async () => {
  sandbox = await openSandbox({ after: standbyAtOnce });
  victims = await startVictims(sandbox);
  await until('the standby is warm', () => sandbox.status().sidecars.length === 2);
});

afterEach(async () => {
  await victims.stop();
  await sandbox.stop();
  expect(sidecarPids()).toEqual([]);
});

const pidOf = (role: string): number =>
  sandbox.status().sidecars.find((sidecar) => sidecar.role === role)?.pid ?? 0;

const schedIdle = 5;

/** proc(5): the scheduling policy is field 41, the 39th behind the name. */
function policyOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38]);
}

/**
 * Ends the process from inside: a built-in that ignores the memory limit of the isolate reaches that of the process.
 */
const crashLoop = `const all = []; for (;;) all.push('x'.repeat(1 << 28).split(''));`;

test('a plugin that crashes three processes does so in quarantine, without interrupting others again', async () => {
  const code = await pluginOf(crashLoop);
  const first = await runToEnd(sandbox, jobOf('ins_crasher', code));
  expect(first).toMatchObject({ status: 'failed', killed: true });
  await victimsResume(victims);

  const interruptedOnce = victims.interrupted();
  const active = pidOf('active');
  for (let round = 0; round < 2; round++) {
    expect(await runToEnd(sandbox, jobOf('ins_crasher', code))).toMatchObject({
      status: 'failed',
      killed: true,
    });
    await victimsResume(victims);
  }
  expect(pidOf('active')).toBe(active);
  expect(victims.interrupted()).toBe(interruptedOnce);

  sandbox.evict('ins_crasher');
  const harmless = await runToEnd(sandbox, jobOf('ins_crasher', await pluginOf('await ctx.issues.get(1);')));
  expect(harmless.status).toBe('succeeded');
});

test('code that was killed for its resource usage then runs separately, when no other process needs the CPU', async () => {
  const looping = await pluginOf('for (;;);');
  expect(await runToEnd(sandbox, jobOf('ins_looping', looping))).toMatchObject({ reason: 'cpu' });
  expect(pidOf('quarantine')).toBe(0);
  sandbox.evict('ins_looping');
  expect(await runToEnd(sandbox, jobOf('ins_looping', looping))).toMatchObject({ reason: 'cpu' });
  expect(policyOf(pidOf('quarantine'))).toBe(schedIdle);
  expect(policyOf(pidOf('active'))).not.toBe(schedIdle);
  const mended = await runToEnd(sandbox, jobOf('ins_looping', await pluginOf('await ctx.issues.get(1);')));
  expect(mended.status).toBe('succeeded');
});

test('a plugin that only shared the process leaves quarantine with its first successful run', async () => {
  const busy = await pluginOf('for (let i = 0; i < 40; i++) await ctx.issues.get(i);');
  const limits = { ...eventLimits, calls: 1000, cpuMs: 5000 };
  const many = Array.from({ length: 6 }, (_, index) =>
    sandbox.run(jobOf(`ins_busy_${index}`, busy, { limits })),
  );
  process.kill(pidOf('active'), 'SIGKILL');
  const outcomes = await Promise.all(many);
  for (const { status } of outcomes) expect(['succeeded', 'interrupted']).toContain(status);
  for (let index = 0; index < 6; index++) {
    expect((await runToEnd(sandbox, jobOf(`ins_busy_${index}`, busy, { limits }))).status).toBe('succeeded');
  }
});
