// Fault matrix row 5: the sidecar is killed, is stopped or crashes. No run is lost, and no uninvolved plugin is blamed.
// quarantine.test.ts covers quarantine.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLiar, reasonsOf } from './hostile-sidecar/peer.ts';
import { jobOf, openSandbox, pluginOf, sidecarPids, standbyAtOnce, until } from './harness.ts';
import type { TestSandbox } from './harness.ts';
import { startVictims, victimsResume } from './victims.ts';
import type { Victims } from './victims.ts';
import type { CallAnswer } from '../../core/platform/sandbox/supervisor.ts';

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

test('a sidecar killed from outside is replaced by its standby, and no plugin is blamed', async () => {
  for (let round = 0; round < 3; round++) {
    const pid = pidOf('active');
    process.kill(pid, 'SIGKILL');
    await until('another process is active', () => pidOf('active') !== pid && pidOf('active') !== 0);
    await victimsResume(victims);
  }
});

test('active and standby recover after a simultaneous kill', async () => {
  const pids = [pidOf('active'), pidOf('standby')];
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await until(
    'both are new',
    () =>
      sandbox.status().sidecars.length >= 2 &&
      sandbox.status().sidecars.every(({ pid }) => !pids.includes(pid)),
  );
  await victimsResume(victims);
});

test('a stopped sidecar is detected, killed and replaced', async () => {
  const pid = pidOf('active');
  process.kill(pid, 'SIGSTOP');
  await until('another process is active', () => pidOf('active') !== pid && pidOf('active') !== 0);
  await victimsResume(victims);
  await until('the stopped process has ended', () => !sidecarPids().includes(pid));
});

test('a stopped standby is detected before it is needed', async () => {
  const pid = pidOf('standby');
  process.kill(pid, 'SIGSTOP');
  await until('another process is the standby', () => pidOf('standby') !== pid && pidOf('standby') !== 0);
  await victimsResume(victims);
});

test('a crash fails the run that was executing', async () => {
  const crashing = await openLiar('crash');
  const outcome = await crashing.run(jobOf('ins_at_work', await pluginOf('')));
  await crashing.stop();
  expect(outcome).toMatchObject({ status: 'failed', reason: 'killed', killed: true });
});

test('a crash while a run only waits fails no run', async () => {
  const crashing = await openLiar('a call, then a crash while it waits');
  const call = (): Promise<CallAnswer> => new Promise(() => undefined);
  const outcome = await crashing.run(jobOf('ins_waiting', await pluginOf(''), { call }));
  await crashing.stop();
  expect(outcome).toMatchObject({ status: 'interrupted' });
  expect(reasonsOf(crashing)[0]).toMatch(/signal SIG(SEGV|ABRT|TRAP|ILL)/);
});

test.each(['at work', 'frozen'])('the end of the core ends its sidecars, %s', async (state) => {
  const script = `
    import { openSandbox, sidecarPids, standbyAtOnce } from ${JSON.stringify(join(import.meta.dir, 'harness.ts'))};
    const sandbox = await openSandbox({ after: standbyAtOnce });
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

/** A zombie counts as dead; the process that adopts it reaps it later. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
