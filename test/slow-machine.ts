// Machines as they are: every core taken by somebody else, or a process that gets a tenth of its time.
import { availableParallelism } from 'node:os';

/** Keeps every core busy, at ordinary priority, until disposed of. */
export function burnCores(perCore = 1): Disposable {
  const children = Array.from({ length: availableParallelism() * perCore }, () =>
    Bun.spawn(['sh', '-c', 'while :; do :; done'], { stdio: ['ignore', 'ignore', 'ignore'] }),
  );
  return { [Symbol.dispose]: () => children.forEach((child) => child.kill('SIGKILL')) };
}

const PERIOD_MS = 50;

/** Lets processes run for this share of the time; `pids` is asked anew each time, because processes come and go. */
export function slowDown(pids: () => readonly number[], share: number): Disposable {
  let ended = false;
  const signal = (pid: number, name: 'SIGSTOP' | 'SIGCONT'): void => {
    try {
      process.kill(pid, name);
    } catch {
      // It is gone.
    }
  };
  const live = async (): Promise<void> => {
    while (!ended) {
      const now = pids();
      for (const pid of now) signal(pid, 'SIGSTOP');
      await Bun.sleep(PERIOD_MS * (1 - share));
      for (const pid of now) signal(pid, 'SIGCONT');
      await Bun.sleep(PERIOD_MS * share);
    }
  };
  void live();
  return { [Symbol.dispose]: () => void (ended = true) };
}
