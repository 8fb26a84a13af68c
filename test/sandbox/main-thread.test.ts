// Guests with short entries are entered on the main thread of their sidecar. One that blocks it does not go unpunished, and the
// thread of an entry makes no difference to its output.
import { afterEach, describe, expect, test } from 'bun:test';
import { jobOf, openSandbox, pluginOf, runToEnd, sidecarPids } from './harness.ts';
import type { TestSandbox } from './harness.ts';
import type { GuestCall, SandboxJob, Tape } from '../../core/platform/sandbox/supervisor.ts';

let sandbox: TestSandbox;

afterEach(async () => {
  await sandbox.stop();
  expect(sidecarPids()).toEqual([]);
});

/** Returns a plugin that is regular in its first nine runs per isolate. */
const laterPlugin = (attack: string) =>
  pluginOf(`if (++runs > 9) { ${attack} }; await ctx.issues.get(1);`, 'let runs = 0;');
const bystander = () => pluginOf('await ctx.issues.get(1);');

test('a loop is ended by the main thread, and for its CPU time when its run is repeated; others continue', async () => {
  sandbox = await openSandbox({ inlineAfter: 4 });
  const code = await pluginOf("if (event.data.title === 'loop') for (;;); await ctx.issues.get(1);");
  for (let run = 0; run < 9; run++)
    expect((await runToEnd(sandbox, jobOf('ins_loop', code))).status).toBe('succeeded');
  const looping = jobOf('ins_loop', code);
  const loop = { ...looping, input: looping.input.replace('Ping', 'loop') };
  const [first, beside] = await Promise.all([
    sandbox.run(loop),
    runToEnd(sandbox, jobOf('ins_bystander', await bystander())),
  ]);
  expect(first).toMatchObject({ status: 'interrupted' });
  expect(beside.status).toBe('succeeded');
  expect(await sandbox.run(loop)).toMatchObject({ status: 'failed', reason: 'cpu', killed: true });
});

test.each([
  ['loops', 'for (;;);'],
  ['cannot be ended', "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 'x');"],
])('a guest that %s in every tenth run of its isolate is named at its second attempt', async (_, attack) => {
  sandbox = await openSandbox({ inlineAfter: 4 });
  const code = await laterPlugin(attack);
  const statuses: string[] = [];
  for (let run = 0; run < 30 && !statuses.includes('failed'); run++)
    statuses.push((await sandbox.run(jobOf('ins_later', code))).status);
  expect(statuses.filter((status) => status === 'interrupted')).toHaveLength(1);
  expect(statuses.at(-1)).toBe('failed');
  expect(await runToEnd(sandbox, jobOf('ins_bystander', await bystander()))).toMatchObject({ calls: 1 });
});

describe('the thread makes no difference to', () => {
  const bodies: [what: string, body: string][] = [
    [
      'calls, logs and answers',
      `ctx.log.info(Date.now(), Math.random(), typeof ctx.run.cpuLeftMs());
       const both = await Promise.all([ctx.issues.get(1), ctx.issues.get(2)]);
       await ctx.sleep(5); ctx.log.warn(both, ctx.now());
       try { await ctx.issues.get('fail'); } catch (error) { ctx.log.error(error.code, error.message); }`,
    ],
    ['calls that are not awaited', 'ctx.issues.get(1); ctx.issues.get(2).then(() => ctx.issues.get(3));'],
    ['errors and their stacks', "await ctx.issues.get(1); throw new TypeError('odd: ' + event.id);"],
    ['unhandled rejections', "Promise.reject(new Error('left alone')); await ctx.issues.get(1);"],
    ['floods of calls', 'for (;;) await ctx.issues.get(1);'],
    [
      'the state that runs share',
      'globalThis.runs = (globalThis.runs ?? 0) + 1; ctx.log.info(globalThis.runs);',
    ],
  ];

  /** Returns everything that the core receives from four runs. */
  async function transcriptOf(inlineAfter: number, body: string): Promise<unknown[]> {
    sandbox = await openSandbox({ inlineAfter });
    const code = await pluginOf(body);
    const transcript: unknown[] = [];
    const tape: Tape = {
      begin: () => void transcript.push('begin'),
      recordReply: (reply) => void transcript.push([reply.t, reply.call]),
      recordCalls: (acked: number, calls: readonly GuestCall[]) => void transcript.push([acked, calls]),
    };
    const more: Partial<SandboxJob> = { tape };
    for (let run = 0; run < 4; run++) {
      const outcome = await sandbox.run(jobOf('ins_any', code, more));
      const logs = outcome.logs.map(({ level, message }) => [level, message.replace(/17900\d+/g, 'time')]);
      transcript.push({ ...outcome, logs, cpuMs: 0, wallMs: 0, queueMs: 0, memoryBytes: 0 });
    }
    await sandbox.stop();
    return transcript;
  }

  test.each(bodies)('%s', async (_, body) => {
    expect(await transcriptOf(0, body)).toEqual(await transcriptOf(1_000_000, body));
  });
});
