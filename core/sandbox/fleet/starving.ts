// Whether a sidecar's main thread waits for the processor. Such a process is not silent by its own fault: on a busy machine its
// low priority can keep it from running for seconds.
import { readFileSync } from 'node:fs';

/** What /proc says of a main thread. */
interface Look {
  readonly runnable: boolean;
  /** Processor time in clock ticks of the kernel. */
  readonly ticks: number;
}

export interface Starving {
  /** Since the last look the process was ready to run and was not run. The first look says no. */
  waits(pid: number): boolean;
  /** The next look is the first again. */
  forget(): void;
}

/** For one process. */
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

/** Undefined where /proc says nothing. */
function lookAt(pid: number): Look | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8');
    // proc(5): the name may hold anything, so count from its closing parenthesis: state, then utime and stime.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { runnable: fields[0] === 'R', ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined;
  }
}
