// The wall limit of a run, with a sidecar whose answers the test decides.
import { expect, test } from 'bun:test';
import { jobOf, eventLimits } from '../../../test/sandbox/harness.ts';
import type { SidecarProcess } from './fleet/process.ts';
import type { SandboxOutcome } from './job.ts';
import type { RunNonce } from './protocol.ts';
import { startRun } from './run.ts';

const wallMs = 60;

/** A run that has consumed its event, and waits for itself. */
function beginIdle(code: Parameters<typeof jobOf>[1]) {
  const sent: string[] = [];
  const sidecar = {
    lastActiveAt: performance.now(),
    rssSeenBytes: 0,
    send: ({ t }: { t: string }) => void sent.push(t),
    kill: (reason: string) => void sent.push(reason),
  };
  const outcome = Promise.withResolvers<SandboxOutcome>();
  const nonce = 'A'.repeat(22) as RunNonce;
  const run = startRun({
    nonce,
    job: jobOf('ins_idle', code, { limits: { ...eventLimits, wallMs } }),
    queueName: 'ins_idle/0',
    sidecar: sidecar as unknown as SidecarProcess,
    queueMs: 0,
    clock: () => 0,
    settle: outcome.resolve,
  });
  run.drained({ t: 'drained', run: nonce, acked: 1, said: { calls: [], logs: [] } });
  const end = { cpuMs: 1, memoryBytes: 0, isolates: 1, acked: 1, end: { status: 'succeeded' } } as const;
  return {
    run,
    sidecar,
    sent,
    outcome: outcome.promise,
    end: () => run.ended({ t: 'end', run: nonce, ...end }),
  };
}

const code = { sha256: 'a'.repeat(64), source: '', handlers: ['event:issue.created'] };

test('a run is stopped once it has waited for longer than its wall limit', async () => {
  const { run, sidecar, sent, outcome, end } = beginIdle(code);
  const answering = setInterval(() => (sidecar.lastActiveAt = performance.now()), 10);
  while (!sent.includes('stop')) await Bun.sleep(5);
  clearInterval(answering);
  await end();
  expect(await outcome).toMatchObject({ status: 'failed', reason: 'wall' });
  expect(run.channel.isClosed()).toBe(true);
});

test('a run whose process is blocked by another one is not stopped for waiting', async () => {
  const { sent, outcome, end } = beginIdle(code);
  await Bun.sleep(5 * wallMs);
  expect(sent).toEqual([]);
  await end();
  expect(await outcome).toMatchObject({ status: 'succeeded' });
});
