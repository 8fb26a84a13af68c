import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { burnCores } from '../../../../test/slow-machine.ts';
import { createStarving } from './starving.ts';

/** Returns how many of fifty samples found the process waiting for the CPU. */
async function looks(command: string[], signal?: 'SIGSTOP'): Promise<number> {
  const child = Bun.spawn(command, { stdio: ['ignore', 'ignore', 'ignore'] });
  await Bun.sleep(100);
  if (signal) child.kill(signal);
  // The process handles a signal only when it gets CPU time.
  while (signal && !/\) [Tt] /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))) await Bun.sleep(5);
  const starving = createStarving();
  let waited = 0;
  for (let look = 0; look < 50; look++) {
    if (starving.waits(child.pid)) waited++;
    await Bun.sleep(5);
  }
  child.kill('SIGKILL');
  await child.exited;
  return waited;
}

const busy = ['nice', '-n', '19', 'sh', '-c', 'while :; do :; done'];

test.skipIf(process.platform !== 'linux')(
  'a runnable process without CPU time counts as waiting; a sleeping or stopped one does not',
  async () => {
    using _burners = burnCores(2);
    expect(await looks(busy)).toBeGreaterThan(25);
    expect(await looks(['sleep', '10'])).toBe(0);
    expect(await looks(busy, 'SIGSTOP')).toBe(0);
  },
);
