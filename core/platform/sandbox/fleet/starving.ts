// Detects that the main thread of a sidecar waits for the CPU. On a busy machine its low priority can keep it from running for
// seconds, which must not count as silence.
import { readFileSync } from 'node:fs';

/** State of a main thread according to /proc. */
interface Look {
  readonly runnable: boolean;
  /** CPU time in clock ticks of the kernel. */
  readonly ticks: number;
}

export interface Starving {
  /** Returns true if the process is ready to run and got no CPU time since the last call. The first call returns false. */
  waits(pid: number): boolean;
  /** Resets: the next call of `waits` counts as the first. */
  forget(): void;
}

/** Creates a detector for one process. */
export function createStarving(): Starving {
  let ticksBefore: number | undefined;
  return {
    waits(pid) {
      const look = lookAt(pid);
      const before = ticksBefore;
      if (look) ticksBefore = look.ticks;
      return look !== undefined && before !== undefined && look.runnable && look.ticks === before;
    },
    forget() {
      ticksBefore = undefined;
    },
  };
}

/** Returns undefined if /proc has no entry. */
function lookAt(pid: number): Look | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8');
    // proc(5): the name may contain any character, so fields count from its closing parenthesis: state, then utime and stime.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { runnable: fields[0] === 'R', ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined;
  }
}
