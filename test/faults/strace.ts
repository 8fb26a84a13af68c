// Commands under strace's fault injection, https://man7.org/linux/man-pages/man1/strace.1.html (-e inject).
/** True if strace is installed, injects faults, and may trace here: some containers and users may not. */
export const hasStrace =
  Bun.which('strace') !== null && Bun.spawnSync(underFault('fsync:error=EIO', [], ['true'])).exitCode === 0;

/**
 * @param inject such as `fsync:error=EIO:when=4`; calls are counted per thread
 * @param paths counts only calls on these files; empty counts all
 */
export function underFault(inject: string, paths: readonly string[], command: readonly string[]): string[] {
  const options = [
    '-f',
    // Only the traced calls stop the process, which takes a third of the CPU time; strace 6.12 then injects no signals.
    ...(inject.includes('signal=') ? [] : ['--seccomp-bpf']),
    '-qq',
    '-o',
    '/dev/null',
    '-e',
    `trace=${inject.split(':')[0]}`,
    '-e',
    `inject=${inject}`,
  ];
  return ['strace', ...options, ...paths.flatMap((path) => ['-P', path]), ...command];
}
