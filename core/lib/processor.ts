// Processor time, in milliseconds: what work cost, however long it waited for a processor meanwhile.

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
