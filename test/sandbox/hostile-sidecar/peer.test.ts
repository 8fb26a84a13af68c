// A sidecar that lies, against the real core: whatever it says, a run ends, the core holds little for it and serves
// others meanwhile, and the process is killed for what no honest one would say.
import { afterEach, describe, expect, test } from 'bun:test';
import { jobOf, eventLimits, openSandbox, pluginOf, sidecarPids, until } from '../harness.ts';
import type { TestSandbox } from '../harness.ts';
import { openLiar, reasonsOf } from './peer.ts';

const noCode = { sha256: 'no code', source: '' };
let sandbox: TestSandbox;

afterEach(async () => {
  await sandbox.stop();
  expect(sidecarPids()).toEqual([]);
});

const breaches = [
  'an end without an end',
  'an end that is null',
  'an end of no known status',
  'a reason of its own',
  'a message without end',
  'usage that is no number',
  'usage below nothing',
  'usage beyond everything',
  'a progress that is none',
  'an event that goes on like a schedule',
  'more answers than questions',
  'the same again and again',
  'more log lines than it may',
  'calls that are no rows',
  'more in a call than there is',
  'a call of no text',
  'arguments above the limit of their operation',
  'a tail that nobody claims',
  'a log level of its own',
  'no JSON',
  'deep JSON',
  'a list for a frame',
  'an unknown type',
  'a head above its limit',
  'sixteen megabytes announced',
  'sizes that contradict each other',
  'a guessed run',
  'a run by its number',
  'a definition nobody asked for',
  'that it starts, twice',
  'answers to pings that were not sent',
  'taint for a run it was not given',
];

describe('a sidecar is killed for', () => {
  test.each(breaches)('%s', async (behaviour) => {
    sandbox = await openLiar(behaviour);
    const called: string[] = [];
    const call = (op: string): Promise<{ ok: true; value: string }> => {
      called.push(op);
      return Promise.resolve({ ok: true, value: 'null' });
    };
    const outcome = await sandbox.run(jobOf('ins_any', noCode, { call }));
    expect(outcome).toMatchObject({ status: 'interrupted', calls: 0 });
    expect(called).toEqual([]);
    expect(reasonsOf(sandbox)[0]).toStartWith('protocol violation: ');
  });

  test.each(['an end said twice', 'a call after the end'])(
    '%s, while a call of the run is open',
    async (behaviour) => {
      sandbox = await openLiar(behaviour);
      const called: string[] = [];
      const call = (op: string): Promise<never> => {
        called.push(op);
        return new Promise(() => undefined);
      };
      expect((await sandbox.run(jobOf('ins_any', noCode, { call }))).status).toBe('interrupted');
      expect(reasonsOf(sandbox)[0]).toStartWith('protocol violation: ');
      expect(called).toEqual(['issues.get']);
    },
  );

  test('calls without end, and no timer of them outlives the run', async () => {
    sandbox = await openLiar('calls without end');
    const outcome = await sandbox.run(jobOf('ins_any', noCode));
    expect(['failed', 'interrupted']).toContain(outcome.status);
    await until('it is killed', () => reasonsOf(sandbox).length > 0);
  });

  test('standard error without end', async () => {
    sandbox = await openLiar('standard error without end');
    expect((await sandbox.run(jobOf('ins_any', noCode))).status).toBe('interrupted');
    expect(reasonsOf(sandbox)).toContain('more than 256 KB of output on stderr');
  });
});

test('acting for a finished run is impossible: its calls reach no host', async () => {
  sandbox = await openLiar('a finished run');
  const called: string[] = [];
  const call = (op: string): Promise<{ ok: true; value: string }> => {
    called.push(op);
    return Promise.resolve({ ok: true, value: 'null' });
  };
  expect((await sandbox.run(jobOf('ins_first', noCode, { call }))).status).toBe('succeeded');
  expect((await sandbox.run(jobOf('ins_second', noCode, { call }))).status).toBe('interrupted');
  expect(reasonsOf(sandbox)[0]).toBe(
    'protocol violation: The message names a run that this sidecar was not given.',
  );
  expect(called).toEqual([]);
});

test('an end says how the run ended and nothing else: usage and logs are the core’s own', async () => {
  sandbox = await openLiar('an end with an outcome of its own');
  const outcome = await sandbox.run(jobOf('ins_any', noCode));
  expect(outcome).toMatchObject({ status: 'succeeded', logs: [], calls: 0 });
  expect(Object.keys(outcome).sort()).toEqual([
    'calls',
    'cpuMs',
    'logs',
    'memoryBytes',
    'queueMs',
    'status',
    'wallMs',
  ]);
  expect(outcome.wallMs).toBeGreaterThan(0);
  expect(outcome.queueMs).toBeLessThan(1e6);
});

test('control characters of logs, messages and standard error are shown, not sent on', async () => {
  sandbox = await openLiar('escapes everywhere');
  const outcome = await sandbox.run(jobOf('ins_any', noCode));
  const all = JSON.stringify([outcome, sandbox.logged]);
  expect(outcome).toMatchObject({ status: 'failed', message: '\\u001b]0;owned\\u0007\\u009b31mred' });
  expect(outcome.logs[0]?.message).toBe('\\u001b]0;owned\\u0007\\u009b31mred');
  expect(all).not.toMatch(/\\u00(1b|07|9b)(?<!\\\\u00..)/);
});

test('a run that is never ended ends at its wall, and its process with it', async () => {
  sandbox = await openLiar('never an end');
  const outcome = await sandbox.run(jobOf('ins_any', noCode, { limits: { ...eventLimits, wallMs: 300 } }));
  expect(outcome).toMatchObject({ status: 'failed', reason: 'wall' });
  expect(reasonsOf(sandbox)).toContain('a run was not stopped when requested');
});

/** The largest growth of this process while `work` lasts. */
async function grownMb(work: () => Promise<unknown>): Promise<number> {
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 2);
  await work();
  clearInterval(timer);
  return (most - before) / 1e6;
}

test('what it asks for and does not read is bounded', async () => {
  sandbox = await openLiar('hoard');
  const value = JSON.stringify('x'.repeat(2_000_000));
  let callCount = 0;
  const call = (): Promise<{ ok: true; value: string }> => {
    callCount++;
    // Each answer is text of its own, as one from a database is.
    return Promise.resolve({ ok: true, value: Buffer.from(value).toString() });
  };
  const jobs = Array.from({ length: 40 }, (_, n) => jobOf(`ins_${n}`, noCode, { call }));
  const grown = await grownMb(() => Promise.all(jobs.map((job) => sandbox.run(job))));
  expect(callCount).toBeLessThan(240);
  // What other tests of this process left behind may be in it.
  expect(grown).toBeLessThan(400);
  expect(reasonsOf(sandbox).join()).toMatch(/silent|protocol violation/);
});

test('large frames are read as the host answers, not as they come', async () => {
  sandbox = await openLiar('large frames');
  let bufferedBytes = 0;
  let most = 0;
  const call = async (_op: string, { length }: string): Promise<{ ok: true; value: string }> => {
    most = Math.max(most, (bufferedBytes += length));
    await Bun.sleep(300);
    bufferedBytes -= length;
    return { ok: true, value: 'null' };
  };
  const limits = { ...eventLimits, wallMs: 150 };
  const jobs = Array.from({ length: 40 }, (_, n) => jobOf(`ins_${n}`, noCode, { call, limits }));
  const grown = await grownMb(() => Promise.all(jobs.map((job) => sandbox.run(job))));
  expect(most).toBeLessThan(8_000_000);
  // What other tests of this process left behind may be in it.
  expect(grown).toBeLessThan(600);
});

test('an honest sidecar that has much to say and to hear at once loses nothing', async () => {
  sandbox = await openSandbox();
  const code = await pluginOf(`
    const big = 'x'.repeat(2_000_000);
    await Promise.all(Array.from({ length: 2 }, async (_, n) => {
      await ctx.kv.set('key' + n, big);
      if ((await ctx.kv.get('key' + n)).length !== big.length) throw new Error('lost');
    }));`);
  const value = JSON.stringify('x'.repeat(2_000_000));
  const call = async (op: string): Promise<{ ok: true; value: string }> => {
    await Bun.sleep(5);
    return { ok: true, value: op === 'kv.get' ? Buffer.from(value).toString() : 'null' };
  };
  const limits = { ...eventLimits, cpuMs: 5000, entryMs: 2000, wallMs: 30_000, memoryMb: 128 };
  const jobs = Array.from({ length: 8 }, (_, n) => jobOf(`ins_${n}`, code, { call, limits }));
  const outcomes: string[] = [];
  const grown = await grownMb(async () => {
    for (const outcome of await Promise.all(jobs.map((job) => sandbox.run(job))))
      outcomes.push('message' in outcome ? outcome.message : outcome.status);
  });
  expect(outcomes).toEqual(Array(8).fill('succeeded'));
  expect(reasonsOf(sandbox)).toEqual([]);
  expect(grown).toBeLessThan(500);
});
