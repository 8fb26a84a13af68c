// A sandbox split by workspace or install: exhausting or ending one process does not affect the others, and groups are
// created and removed.
import { afterEach, expect, test } from 'bun:test';
import { jobOf, openSandbox, pluginOf, sidecarPids, until } from './harness.ts';
import type { TestSandbox } from './harness.ts';
import type { SandboxJob, SandboxOptions } from '../../core/platform/sandbox/supervisor.ts';

let sandbox: TestSandbox;

afterEach(async () => {
  await sandbox.stop();
  expect(sidecarPids()).toEqual([]);
});

/** The processes in which these concurrent jobs run, identified by their host calls. */
async function processesOf(
  split: NonNullable<SandboxOptions['split']>,
  jobs: Partial<SandboxJob>[],
): Promise<string[]> {
  sandbox = await openSandbox({ split });
  const code = await pluginOf('await ctx.issues.get(1); await ctx.sleep(300);');
  const before = new Map<number, number>();
  const outcomes = jobs.map(async (job) => {
    const { installId = 'ins_any' } = job;
    return (await sandbox.run(jobOf(installId, code, job))).status;
  });
  await until('every job has its process', () => {
    const active = sandbox.status().sidecars.filter(({ role }) => role === 'active');
    for (const { pid, isolates } of active) before.set(pid, isolates);
    return before.size >= { none: 1, workspace: 2, install: 3 }[split];
  });
  const statuses = await Promise.all(outcomes);
  return [...statuses, `${before.size} processes`];
}

const fourJobs = [
  { installId: 'ins_a', workspaceId: 'wsp_1' },
  { installId: 'ins_b', workspaceId: 'wsp_1' },
  { installId: 'ins_c', workspaceId: 'wsp_2' },
];

test.each([
  ['none', 1],
  ['workspace', 2],
  ['install', 3],
] as const)('split by %s, three installs of two workspaces have %d processes', async (split, count) => {
  expect(await processesOf(split, fourJobs)).toEqual([
    'succeeded',
    'succeeded',
    'succeeded',
    `${count} processes`,
  ]);
});

test('the end of one workspace’s process interrupts no run of another', async () => {
  sandbox = await openSandbox({ split: 'workspace' });
  const code = await pluginOf('await ctx.issues.get(1);');
  const gate = Promise.withResolvers<void>();
  const call = () => gate.promise.then(() => ({ ok: true as const, value: 'null' }));
  const first = sandbox.run(jobOf('ins_a', code, { workspaceId: 'wsp_1', call }));
  await until('the first has a process', () =>
    sandbox.status().sidecars.some(({ role }) => role === 'active'),
  );
  const [{ pid } = { pid: 0 }] = sandbox.status().sidecars.filter(({ role }) => role === 'active');
  const second = sandbox.run(jobOf('ins_c', code, { workspaceId: 'wsp_2', call }));
  await until(
    'both have one',
    () => sandbox.status().sidecars.filter(({ role }) => role === 'active').length === 2,
  );
  process.kill(pid, 'SIGKILL');
  expect((await first).status).toBe('interrupted');
  gate.resolve();
  expect((await second).status).toBe('succeeded');
});

test('with more groups than processes, all are served in rotation', async () => {
  sandbox = await openSandbox({ split: 'install' });
  const code = await pluginOf('await ctx.issues.get(1);');
  const jobs = Array.from({ length: 11 }, (_, n) => sandbox.run(jobOf(`ins_${n}`, code)));
  expect((await Promise.all(jobs)).map(({ status }) => status)).toEqual(Array(11).fill('succeeded'));
  expect(sandbox.status().sidecars.filter(({ role }) => role === 'active').length).toBeLessThanOrEqual(8);
});
