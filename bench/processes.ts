// CPU time, memory and children of a process, read from /proc.
import { readdirSync, readFileSync } from 'node:fs';

const pageBytes = 4096;

/** Clock ticks in /proc/<pid>/stat are 10 ms on all supported Linux systems. */
const tickMs = 10;

/** CPU time of all threads of a process so far. */
export function cpuMs(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/**
 * CPU time in microseconds of the main thread of a process and of its worker threads so far, without those of the JIT and of
 * the garbage collector, which do less the longer a process runs.
 */
export function workUs(pid: number): number {
  const folder = `/proc/${pid}/task`;
  return (
    readdirSync(folder)
      .filter(
        (tid) => Number(tid) === pid || readFileSync(`${folder}/${tid}/comm`, 'latin1').trim() === 'Worker',
      )
      .reduce(
        (sum, tid) => sum + Number(readFileSync(`${folder}/${tid}/schedstat`, 'latin1').split(' ')[0]),
        0,
      ) / 1_000
  );
}

/** Fields after the process name, which may contain spaces. */
function statOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ');
}

/** Pages that a process has used for the first time so far, without those that were read from disk for it. */
export function pagesTouched(pid: number): number {
  return Number(statOf(pid)[7]);
}

/** Resident memory of a process, MiB. */
export function rssMb(pid: number): number {
  return (Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * pageBytes) / 2 ** 20;
}

export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((other) => parentOf(other) === pid);
}

export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Returns undefined for a process that has just exited. */
function parentOf(pid: number): number | undefined {
  try {
    return Number(statOf(pid)[1]);
  } catch {
    return undefined;
  }
}

/** Returns a port that was free a moment ago. */
export function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
  const { port } = server;
  void server.stop(true);
  return port!;
}

/** Resolves at the first 200 of /readyz with the milliseconds since `startedMs`. */
export async function untilReady(url: string, startedMs: number): Promise<number> {
  for (;;) {
    try {
      if ((await fetch(`${url}/readyz`)).status === 200) return performance.now() - startedMs;
    } catch {
      // The server does not listen yet.
    }
    if (performance.now() - startedMs > 60_000) throw new Error(`${url} was not ready within a minute.`);
    await Bun.sleep(2);
  }
}
