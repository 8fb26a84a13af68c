import { expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

test.each([null, '0 0 0\n'])(
  'without an account of the kernel (%j), intervals without CPU time count, and a loop does not',
  (account) => {
    const proc = mkdtempSync(join(tmpdir(), 'tatami-proc-'));
    const folder = join(proc, '7/task/7');
    mkdirSync(folder, { recursive: true });
    if (account !== null) writeFileSync(join(folder, 'schedstat'), account);
    const starving = createStarving(proc);
    const waitedAt = (ticks: number): number => {
      writeFileSync(join(folder, 'stat'), `7 (a) name) R ${'0 '.repeat(10)}${ticks} 0 0`);
      return starving.waitedMs(7, 25);
    };
    expect([5, 5, 5, 6, 6, 7, 8].map(waitedAt)).toEqual([0, 25, 50, 50, 75, 75, 75]);
    starving.forget();
    expect([8, 9, 10].map(waitedAt)).toEqual([0, 0, 0]);
    rmSync(proc, { recursive: true });
  },
);
