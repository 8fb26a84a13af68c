import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { burnCores } from '../../../../test/slow-machine.ts';
import { createStarving } from './starving.ts';

/** Returns the share of time in which the process waited for the CPU. */
async function waitingShare(command: string[], signal?: 'SIGSTOP'): Promise<number> {
  const child = Bun.spawn(command, { stdio: ['ignore', 'ignore', 'ignore'] });
  await Bun.sleep(100);
  if (signal) child.kill(signal);
  // The process handles a signal only when it gets CPU time.
  while (signal && !/\) [Tt] /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))) await Bun.sleep(5);
  const starving = createStarving();
  starving.waitedMs(child.pid, 0);
  const startedAt = performance.now();
  let waitedMs = 0;
  for (let at = startedAt; at < startedAt + 500;) {
    await Bun.sleep(5);
    const now = performance.now();
    waitedMs = starving.waitedMs(child.pid, now - at);
    at = now;
  }
  const tookMs = performance.now() - startedAt;
  child.kill('SIGKILL');
  await child.exited;
  return waitedMs / tookMs;
}

const busy = (niceness: number) => ['nice', '-n', `${niceness}`, 'sh', '-c', 'while :; do :; done'];

test.skipIf(process.platform !== 'linux')(
  'a runnable process counts as waiting while it has no CPU, also for moments; a sleeping or stopped one does not',
  async () => {
    using _burners = burnCores(2);
    expect(await waitingShare(busy(19))).toBeWithin(0.8, 1.1);
    // It gets a few milliseconds of every interval.
    expect(await waitingShare(busy(10))).toBeWithin(0.6, 1.1);
    expect(await waitingShare(['sleep', '10'])).toBeLessThan(0.1);
    expect(await waitingShare(busy(19), 'SIGSTOP')).toBeLessThan(0.1);
  },
);
