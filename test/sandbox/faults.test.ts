// Fault matrix row 5: the sidecar is killed, stopped or crashes for real. No run is lost, innocents are never blamed,
// and a plugin that keeps crashing its process does so in quarantine, away from the others.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLiar, reasonsOf } from './hostile-sidecar/peer.ts';
import { jobOf, eventLimits, openSandbox, pluginOf, runToEnd, sidecarPids, until } from './harness.ts';
import type { TestSandbox } from './harness.ts';
import { startVictims } from './victims.ts';
import type { Victims } from './victims.ts';
import type { CallAnswer } from '../../core/sandbox/supervisor.ts';

let sandbox: TestSandbox;
let victims: Victims;

beforeEach(async () => {
  sandbox = await openSandbox();
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

async function victimsResume(): Promise<void> {
  const before = victims.succeeded();
  await until('every victim goes on', () =>
    victims.succeeded().every((count, index) => count > (before[index] ?? 0) + 1),
  );
  expect(victims.wronged).toEqual([]);
}

/** Kills the process from inside: the memory limit of the process is met by a built-in that does not ask the isolate's. */
const crashLoop = `const all = []; for (;;) all.push('x'.repeat(1 << 28).split(''));`;

test('a sidecar killed from outside is replaced by its standby, and nobody is blamed', async () => {
  for (let round = 0; round < 3; round++) {
    const pid = pidOf('active');
    process.kill(pid, 'SIGKILL');
    await until('another process is active', () => pidOf('active') !== pid && pidOf('active') !== 0);
    await victimsResume();
  }
});

test('active and standby killed at once come back', async () => {
  const pids = [pidOf('active'), pidOf('standby')];
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await until(
    'both are new',
    () =>
      sandbox.status().sidecars.length >= 2 &&
      sandbox.status().sidecars.every(({ pid }) => !pids.includes(pid)),
  );
  await victimsResume();
});

test('a stopped sidecar is noticed, killed and replaced', async () => {
  const pid = pidOf('active');
  process.kill(pid, 'SIGSTOP');
  await until('another process is active', () => pidOf('active') !== pid && pidOf('active') !== 0);
  await victimsResume();
  await until('the stopped one is gone', () => !sidecarPids().includes(pid));
});

test('a stopped standby is noticed before it is needed', async () => {
  const pid = pidOf('standby');
  process.kill(pid, 'SIGSTOP');
  await until('another process stands by', () => pidOf('standby') !== pid && pidOf('standby') !== 0);
  await victimsResume();
});

test('a crash is the failure of the run that was at work', async () => {
  const crashing = await openLiar('crash');
  const outcome = await crashing.run(jobOf('ins_at_work', await pluginOf('')));
  await crashing.stop();
  expect(outcome).toMatchObject({ status: 'failed', reason: 'killed', killed: true });
});

test('a crash while a run only waits is nobody’s failure', async () => {
  const crashing = await openLiar('a call, then a crash while it waits');
  const call = (): Promise<CallAnswer> => new Promise(() => undefined);
  const outcome = await crashing.run(jobOf('ins_waiting', await pluginOf(''), { call }));
  await crashing.stop();
  expect(outcome).toMatchObject({ status: 'interrupted' });
  expect(reasonsOf(crashing)[0]).toMatch(/signal SIG(SEGV|ABRT|TRAP|ILL)/);
});

test('a plugin that crashes three processes does so in quarantine, while others are not interrupted again', async () => {
  const code = await pluginOf(crashLoop);
  const first = await runToEnd(sandbox, jobOf('ins_crasher', code));
  expect(first).toMatchObject({ status: 'failed', killed: true });
  await victimsResume();

  const interruptedOnce = victims.interrupted();
  const active = pidOf('active');
  for (let round = 0; round < 2; round++) {
    expect(await runToEnd(sandbox, jobOf('ins_crasher', code))).toMatchObject({
      status: 'failed',
      killed: true,
    });
    await victimsResume();
  }
  expect(pidOf('active')).toBe(active);
  expect(victims.interrupted()).toBe(interruptedOnce);

  sandbox.evict('ins_crasher');
  const harmless = await runToEnd(sandbox, jobOf('ins_crasher', await pluginOf('await ctx.issues.get(1);')));
  expect(harmless.status).toBe('succeeded');
});

test('code that was killed for what it used runs apart from then on, when nobody else wants the processor', async () => {
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

test('a plugin that was merely nearby leaves quarantine with its first good run', async () => {
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

test.each(['at work', 'frozen'])('the core’s own death takes its sidecars with it, %s', async (state) => {
  const script = `
    import { openSandbox, sidecarPids } from ${JSON.stringify(join(import.meta.dir, 'harness.ts'))};
    const sandbox = await openSandbox();
    while (sandbox.status().sidecars.length < 2) await Bun.sleep(5);
    console.log(JSON.stringify(sidecarPids()));
    if (${state === 'frozen'}) for (const pid of sidecarPids()) process.kill(pid, 'SIGSTOP');
    process.kill(process.pid, 'SIGKILL');
  `;
  const child = Bun.spawn([process.execPath, '-e', script], {
    stdout: 'pipe',
    cwd: join(import.meta.dir, '../..'),
  });
  const pids = JSON.parse(await new Response(child.stdout).text()) as number[];
  expect(pids.length).toBe(2);
  await until('both have died', () => pids.every((pid) => !isAlive(pid)));
});

/** A zombie is dead; whoever adopts it reaps it in its own time. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
