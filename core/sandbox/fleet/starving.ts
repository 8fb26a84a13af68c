// Whether a sidecar's main thread waits for the processor. A process that is ready to run and does not get to is not
// silent, it is not let speak: on a busy machine its low priority can mean seconds.
import { readFileSync } from 'node:fs';

/** What /proc says of a main thread; undefined where it says nothing. */
interface Look {
  runnable: boolean;
  /** Processor time in clock ticks of the kernel. */
  ticks: number;
}

export class Starving {
  #last = new Map<number, number>();

  /** Since the last look it was ready to run and was not run. The first look says no. */
  waits(pid: number): boolean {
    const look = lookAt(pid);
    const before = this.#last.get(pid);
    if (look) this.#last.set(pid, look.ticks);
    return look !== undefined && before !== undefined && look.runnable && look.ticks === before;
  }

  forget(pid: number): void {
    this.#last.delete(pid);
  }
}

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
