import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** Returns the CPU time of this thread, milliseconds. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Returns the CPU time of all threads of the process, milliseconds. */
export function processMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Permanently lowers the CPU priority of this process. */
export function lowerCpuPriority(): void {
  // Linux has priorities per thread; new threads inherit that of their creator.
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
  for (const thread of threads) setPriority(thread, constants.priority.PRIORITY_LOW);
}
