// Measures how long the main thread of a sidecar waits for the CPU. On a busy machine its low priority can keep it from running for
// seconds, or leave it a tenth of its time, which must not count as silence.
import { readFileSync } from 'node:fs';

/** State of a main thread according to /proc. */
interface Look {
  readonly runnable: boolean;
  /** CPU time, nanoseconds with an account and clock ticks of the kernel without. */
  readonly cpu: number;
  /** False if the kernel keeps no account of waiting. */
  readonly isAccounted: boolean;
  /** Time that it waited for the CPU. The kernel adds a wait when it ends. */
  readonly delayNs: number;
}

export interface Starving {
  /**
   * Returns how long the process has waited for the CPU since the first call, milliseconds.
   * @param sinceMs time since the last call
   */
  waitedMs(pid: number, sinceMs: number): number;
  /** Resets: the next call of `waitedMs` counts as the first. */
  forget(): void;
}

/** Creates a detector for one process. @param proc where the kernel describes processes */
export function createStarving(proc = '/proc'): Starving {
  let first: Look | undefined;
  let last: Look | undefined;
  let elapsedMs = 0;
  /** Length of a wait that is in no account: one that has not ended, or all where the kernel keeps none. */
  let pendingMs = 0;
  return {
    waitedMs(pid, sinceMs) {
      const look = lookAt(`${proc}/${pid}/task/${pid}`);
      if (look) {
        if (look.runnable && look.cpu === last?.cpu) pendingMs += sinceMs;
        else if (look.isAccounted) pendingMs = 0;
        if (first) elapsedMs += sinceMs;
        first ??= look;
        last = look;
      }
      if (!first || !last) return 0;
      // A wait that had begun before the first call counts from there.
      return Math.min(elapsedMs, (last.delayNs - first.delayNs) / 1e6 + pendingMs);
    },
    forget() {
      first = last = undefined;
      elapsedMs = pendingMs = 0;
    },
  };
}

/** Returns undefined for a process that has ended. */
function lookAt(folder: string): Look | undefined {
  try {
    const stat = readFileSync(`${folder}/stat`, 'utf8');
    // proc(5): the name may contain any character, so fields count from its closing parenthesis: state, then utime and stime.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [cpuNs, delayNs] = accountOf(folder);
    const isAccounted = cpuNs > 0;
    const cpu = isAccounted ? cpuNs : Number(fields[11]) + Number(fields[12]);
    return { runnable: fields[0] === 'R', cpu, isAccounted, delayNs };
  } catch {
    return undefined;
  }
}

/**
 * Returns the time on the CPU and the time waiting for it (Linux, Documentation/scheduler/sched-stats.rst). Both are zero where
 * the kernel was built or started without this account.
 */
function accountOf(folder: string): [cpuNs: number, delayNs: number] {
  try {
    const [cpuNs = '0', delayNs = '0'] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ');
    return [Number(cpuNs), Number(delayNs)];
  } catch {
    return [0, 0];
  }
}
