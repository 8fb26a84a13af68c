// CPU time in milliseconds, and CPU priority.
import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** CPU time of this thread. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** CPU time of all threads of the process; an upper bound for each of them. */
export function processMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Lowers the CPU priority of this process for good. */
export function lowerCpuPriority(): void {
  // Linux has priorities per thread; new threads inherit that of their creator.
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
  for (const thread of threads) setPriority(thread, constants.priority.PRIORITY_LOW);
}
