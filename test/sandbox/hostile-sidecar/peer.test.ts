// A dishonest sidecar against the real core: runs end, the core buffers little for it and serves others meanwhile, and
// a protocol violation kills the process.
import { afterEach, describe, expect, test } from 'bun:test';
import { eventLimits, jobOf, openSandbox, pluginOf, runToEnd, sidecarPids, until } from '../harness.ts';
import type { TestSandbox } from '../harness.ts';
import { openLiar, reasonsOf } from './peer.ts';

const noCode = { sha256: 'no code', source: '' };
let sandbox: TestSandbox;

afterEach(async () => {
  await sandbox.stop();
  expect(sidecarPids()).toEqual([]);
});

const breaches = [
  'an end frame without an end',
  'an end that is null',
  'an end with an unknown status',
  'an unknown reason',
  'an endless message',
  'usage that is not a number',
  'negative usage',
  'infinite usage',
  'invalid progress',
  'an event with the progress of a schedule',
  'more responses than requests',
  'endless repetition',
  'too many log lines',
  'an unclaimed tail',
  'a claimed tail that is missing',
  'no JSON',
  'deep JSON',
  'a list in place of a frame',
  'an unknown type',
  'a head above its limit',
  'sixteen megabytes announced',
  'contradictory sizes',
  'a guessed run',
  'a run by its number',
  'an unrequested definition',
  'a repeated start',
  'responses to unsent pings',
  'taint of an unassigned run',
];

/** A plugin that changes the guest program could cause these; a genuine sidecar passes them on. */
const invalidOutputs = [
  'calls in an invalid format',
  'a call with too many parts',
  'a call longer than its frame',
  'arguments above the limit of their operation',
  'texts without an owner',
  'an unknown log level',
];

test.each(invalidOutputs)('a run fails for %s, and no call of it reaches the host', async (behaviour) => {
  sandbox = await openLiar(behaviour);
  const called: string[] = [];
  const call = (op: string): Promise<{ ok: true; value: string }> => {
    called.push(op);
    return Promise.resolve({ ok: true, value: 'null' });
  };
  const outcome = await runToEnd(sandbox, jobOf('ins_any', noCode, { call }));
  expect(outcome).toMatchObject({ status: 'failed', reason: 'protocol', killed: true, calls: 0 });
  expect(called).toEqual([]);
  expect(reasonsOf(sandbox).filter((reason) => !reason.startsWith('silent'))).toEqual([]);
});

describe('a sidecar is killed for', () => {
  test.each(breaches)('%s', async (behaviour) => {
    sandbox = await openLiar(behaviour);
    const called: string[] = [];
    const call = (op: string): Promise<{ ok: true; value: string }> => {
      called.push(op);
      return Promise.resolve({ ok: true, value: 'null' });
    };
    const reasonOfKill = async (): Promise<string | undefined> => {
      const outcome = await sandbox.run(jobOf('ins_any', noCode, { call }));
      expect(outcome).toMatchObject({ status: 'interrupted', calls: 0 });
      expect(called).toEqual([]);
      return reasonsOf(sandbox)[0];
    };
    let reason = await reasonOfKill();
    // A sidecar that gets no CPU on a busy machine is killed for its silence, before its frame arrives.
    for (let more = 2; more > 0 && reason?.startsWith('silent'); more--) {
      await sandbox.stop();
      sandbox = await openLiar(behaviour);
      reason = await reasonOfKill();
    }
    expect(reason).toStartWith('protocol violation: ');
  });

  test.each(['a repeated end', 'a call after the end'])(
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

  test('endless calls, and no timer of them outlives the run', async () => {
    sandbox = await openLiar('endless calls');
    const outcome = await sandbox.run(jobOf('ins_any', noCode));
    expect(['failed', 'interrupted']).toContain(outcome.status);
    await until('it is killed', () => reasonsOf(sandbox).length > 0);
  });

  test('endless standard error', async () => {
    sandbox = await openLiar('endless standard error');
    expect((await sandbox.run(jobOf('ins_any', noCode))).status).toBe('interrupted');
    expect(reasonsOf(sandbox)).toContain('more than 256 KB of output on stderr');
  });
});

test('a sidecar cannot act for a finished run: its calls reach no host', async () => {
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

test('an end frame determines only the result of the run: usage and logs come from the core', async () => {
  sandbox = await openLiar('an end with an unexpected outcome');
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

test('control characters of logs, messages and standard error are escaped', async () => {
  sandbox = await openLiar('escapes everywhere');
  const outcome = await sandbox.run(jobOf('ins_any', noCode));
  const all = JSON.stringify([outcome, sandbox.logged]);
  expect(outcome).toMatchObject({ status: 'failed', message: '\\u001b]0;owned\\u0007\\u009b31mred' });
  expect(outcome.logs[0]?.message).toBe('\\u001b]0;owned\\u0007\\u009b31mred');
  expect(all).not.toMatch(/\\u00(1b|07|9b)(?<!\\\\u00..)/);
});

test('a run without an end stops at its wall time, and so does its process', async () => {
  sandbox = await openLiar('no end');
  const outcome = await sandbox.run(jobOf('ins_any', noCode, { limits: { ...eventLimits, wallMs: 300 } }));
  expect(outcome).toMatchObject({ status: 'failed', reason: 'wall' });
  expect(reasonsOf(sandbox)).toContain('a run was not stopped when requested');
});

/** The largest growth of this process during `work`. */
async function grownMb(work: () => Promise<unknown>): Promise<number> {
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 2);
  await work();
  clearInterval(timer);
  return (most - before) / 1e6;
}

test('unread responses are bounded in memory', async () => {
  sandbox = await openLiar('hoard');
  const value = JSON.stringify('x'.repeat(2_000_000));
  let callCount = 0;
  const call = (): Promise<{ ok: true; value: string }> => {
    callCount++;
    // Each response is a separate text, like one from a database.
    return Promise.resolve({ ok: true, value: Buffer.from(value).toString() });
  };
  const jobs = Array.from({ length: 40 }, (_, n) => jobOf(`ins_${n}`, noCode, { call }));
  const grown = await grownMb(() => Promise.all(jobs.map((job) => sandbox.run(job))));
  expect(callCount).toBeLessThan(240);
  // Includes memory of earlier tests in this process.
  expect(grown).toBeLessThan(400);
  expect(reasonsOf(sandbox).join()).toMatch(/silent|protocol violation/);
});

test("large frames are read at the pace of the host's responses", async () => {
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
  // Includes memory of earlier tests in this process.
  expect(grown).toBeLessThan(600);
});

test('a regular sidecar that sends and receives much data loses nothing', async () => {
  sandbox = await openSandbox();
  const code = await pluginOf(`
    const big = 'x'.repeat(1_200_000);
    await Promise.all(Array.from({ length: 2 }, async (_, n) => {
      await ctx.kv.set('key' + n, big);
      if ((await ctx.kv.get('key' + n)).length !== big.length) throw new Error('lost');
    }));`);
  // Together more than the capacity for host calls in progress.
  const value = JSON.stringify('x'.repeat(1_200_000));
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
