// Measures how long the main thread of a sidecar waits for the CPU. On a busy machine its low priority can keep it from running for
// seconds, or leave it a tenth of its time, which must not count as silence.
import { readFileSync } from 'node:fs';

/** State of a main thread according to /proc. */
interface Look {
  readonly runnable: boolean;
  readonly cpuNs: number;
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

/** Creates a detector for one process. */
export function createStarving(): Starving {
  let first: Look | undefined;
  let last: Look | undefined;
  let elapsedMs = 0;
  /** Length of a wait that has not ended. */
  let pendingMs = 0;
  return {
    waitedMs(pid, sinceMs) {
      const look = lookAt(pid);
      if (look) {
        pendingMs = look.runnable && look.cpuNs === last?.cpuNs ? pendingMs + sinceMs : 0;
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

/** Returns undefined if /proc has no entry. */
function lookAt(pid: number): Look | undefined {
  try {
    const folder = `/proc/${pid}/task/${pid}`;
    // Linux, Documentation/scheduler/sched-stats.rst: time on the CPU and time waiting for it, in nanoseconds.
    const [cpuNs, delayNs] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ').map(Number);
    const stat = readFileSync(`${folder}/stat`, 'utf8');
    // proc(5): the name may contain any character, so fields count from its closing parenthesis, which the state follows.
    const runnable = stat.slice(stat.lastIndexOf(')') + 2).startsWith('R');
    return { runnable, cpuNs: cpuNs!, delayNs: delayNs! };
  } catch {
    return undefined;
  }
}
