// Processor time: what work cost, in milliseconds, however long it waited for a processor meanwhile; and who goes first.
import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** Of this thread. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Of all threads of the process: what any one of them used is at most this. */
export function processMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** From now on this process has only the processor time that others leave. It cannot be taken back. */
export function yieldProcessor(): void {
  // Linux counts priority by thread; threads to come have that of the one which makes them.
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
  for (const thread of threads) setPriority(thread, constants.priority.PRIORITY_LOW);
}
