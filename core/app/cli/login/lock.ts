// Serializes changes of logins, because a second use of a refresh token revokes the login. The lock is flock(2), which the kernel releases
// when its process ends.
import { readConfigDir } from '../../config/config.ts';
import { tryLock } from '../../../platform/store/files/data-dir.ts';
import { makePrivateDir } from '../../../platform/store/files/private.ts';
import { CommandError, exitCodes } from '../lib/output.ts';
import { lockFile } from './credentials.ts';

/** Longer than a server may take to answer whoever holds it. */
const waitMsMax = 60_000;
const lookEveryMs = 20;

/** Ctrl-C does not reach into the work: what a server has given must be kept first. @throws CommandError */
export async function withLogins<T>(work: () => Promise<T>): Promise<T> {
  makePrivateDir(readConfigDir());
  const release = await waitForLock();
  const resume = holdInterrupt();
  try {
    return await work();
  } finally {
    release();
    resume();
  }
}

async function waitForLock(): Promise<() => void> {
  for (const startMs = performance.now(); ; await Bun.sleep(lookEveryMs)) {
    const locked = tryLock(lockFile());
    if ('release' in locked) return locked.release;
    if (performance.now() - startMs > waitMsMax)
      throw new CommandError(
        `Process ${locked.lockedBy} has been changing the logins for a minute. Try again after it ends.`,
        exitCodes.tryLater,
      );
  }
}

/** @returns takes it up again, and tells of the interrupt that came meanwhile */
function holdInterrupt(): () => void {
  const listeners = process.rawListeners('SIGINT') as NodeJS.SignalsListener[];
  let came = false;
  const note = (): void => void (came = true);
  process.on('SIGINT', note);
  for (const listener of listeners) process.off('SIGINT', listener);
  return () => {
    for (const listener of listeners) process.on('SIGINT', listener);
    process.off('SIGINT', note);
    if (came) process.kill(process.pid, 'SIGINT');
  };
}
