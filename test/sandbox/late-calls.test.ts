// Calls whose answers the handler does not await: they belong to the run, and their answers are sent only if the plugin has to handle
// a refusal.
import { afterEach, expect, test } from 'bun:test';
import { jobOf, openSandbox, pluginOf, until, type TestSandbox } from './harness.ts';
import type { CallAnswer, SandboxJob, Tape } from '../../core/platform/sandbox/supervisor.ts';

let sandbox: TestSandbox;

afterEach(() => sandbox.stop());

/** Runs a handler twice in one isolate; returns the second outcome, and the replies that its guest received. */
async function runTwice(body: string, more: Partial<SandboxJob> = {}, inlineAfter = 1_000_000) {
  sandbox = await openSandbox({ inlineAfter });
  let replies: string[] = [];
  const tape: Tape = {
    begin: () => void (replies = []),
    recordReply: ({ t, call }) => void replies.push(`${t} ${call}`),
    recordCalls: () => undefined,
  };
  const code = await pluginOf(body);
  await sandbox.run(jobOf('ins_any', code, { tape, ...more }));
  const outcome = await sandbox.run(jobOf('ins_any', code, { tape, ...more }));
  return { outcome, replies };
}

test.each([0, 1_000_000])(
  'a run whose handler ends with open calls ends once they are answered, without their answers (inline after %d)',
  async (inlineAfter) => {
    let answered = 0;
    const call = async (): Promise<CallAnswer> => {
      await Bun.sleep(1);
      answered++;
      return { ok: true, value: 'null' };
    };
    const { outcome, replies } = await runTwice(
      'ctx.issues.update(1, {}); ctx.kv.set("a", 1); ctx.log.info("sent");',
      { call },
      inlineAfter,
    );
    expect(outcome).toMatchObject({ status: 'succeeded', calls: 2, logs: [{ message: 'sent' }] });
    expect([answered, replies]).toEqual([4, []]);
  },
);

test('a refusal that the plugin does not handle fails the run, and its isolate is not used again', async () => {
  const body =
    'globalThis.runs = (globalThis.runs ?? 0) + 1; ctx.log.info(globalThis.runs); ctx.issues.get("fail");';
  const { outcome } = await runTwice(body);
  expect(outcome).toMatchObject({
    status: 'failed',
    reason: 'rejection',
    message: expect.stringContaining('There is no such issue.'),
    logs: [{ message: '1' }],
  });
});

test('a refusal that the plugin handles leaves the run as it is, after all answers in their order', async () => {
  const { outcome, replies } = await runTwice(
    'ctx.issues.get(1); ctx.issues.get("fail").catch(() => undefined); ctx.issues.get(2);',
  );
  expect(outcome).toMatchObject({ status: 'succeeded', calls: 3 });
  expect(replies.map((reply) => reply.split(' ')[0])).toEqual(['answer', 'refuse', 'answer']);
});

test('calls above the number of concurrent ones are made although nobody awaits them', async () => {
  const { outcome } = await runTwice('for (let n = 0; n < 20; n++) ctx.issues.get(n);');
  expect(outcome).toMatchObject({ status: 'succeeded', calls: 20 });
});

test('a run that waits for its open calls can be canceled', async () => {
  sandbox = await openSandbox();
  const controller = new AbortController();
  let called = false;
  const call = (): Promise<never> => {
    called = true;
    return new Promise(() => undefined);
  };
  const running = sandbox.run(
    jobOf('ins_any', await pluginOf('ctx.issues.get(1);'), { call, signal: controller.signal }),
  );
  await until('the call is open', () => called);
  controller.abort();
  expect(await running).toMatchObject({ status: 'interrupted', message: 'The run was canceled.' });
  expect((await sandbox.run(jobOf('ins_any', await pluginOf('')))).status).toBe('succeeded');
});

test.each([0, 1_000_000])(
  'calls that are answered at the same time can be awaited one after the other (inline after %d)',
  async (inlineAfter) => {
    const { outcome } = await runTwice(
      `const all = [1, 2, 3, 4].map(() => ctx.issues.get('fail'));
       for (const one of all) await one.catch(() => ctx.log.info('refused'));`,
      {},
      inlineAfter,
    );
    expect(outcome).toMatchObject({ status: 'succeeded', calls: 4, logs: { length: 4 } });
  },
);
