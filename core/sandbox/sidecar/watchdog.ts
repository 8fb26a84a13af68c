// Ends entries that have had the processor time they may have. Disposing stops JavaScript at once, but not a long built-in and not
// the copying of a hostile rejection: what does not settle even then holds a thread that only the death of this process frees.
import type { ProcessorMeter } from './meter.ts';
import type { Entry } from './timed-isolate.ts';

const tickMs = 20;
/** Of processor time, for a disposed isolate to leave its thread. */
const settleMs = 300;
/** Ticks without an entry before the looking stops. */
const idleTicksMax = 50;

export interface Watchdog {
  add(entry: Entry): void;
  remove(entry: Entry): void;
}

/** @param onStuck called once for each entry whose thread cannot be had back */
export function createWatchdog(meter: ProcessorMeter, onStuck: (entry: Entry) => void): Watchdog {
  /** As many as there are isolates with a run. */
  const entries = new Set<Entry>();
  const stuck = new WeakSet<Entry>();
  let timer: NodeJS.Timeout | undefined;
  let idleTicks = 0;

  const rest = (): void => {
    if (++idleTicks < idleTicksMax) return;
    clearInterval(timer);
    timer = undefined;
    idleTicks = 0;
  };

  const check = (entry: Entry, hadMs: number): void => {
    if (entry.disposedAtMs === undefined) {
      if (hadMs - entry.hadAtStartMs <= entry.limitMs) return;
      entry.over = true;
      entry.isolate.dispose();
    } else if (hadMs - entry.disposedAtMs > settleMs && !stuck.has(entry)) {
      stuck.add(entry);
      onStuck(entry);
    }
  };

  const look = (): void => {
    if (entries.size === 0) return rest();
    idleTicks = 0;
    meter.measure();
    const hadMs = meter.hadMs();
    for (const entry of entries) check(entry, hadMs);
  };

  return {
    add(entry) {
      entries.add(entry);
      timer ??= setInterval(look, tickMs);
    },
    remove: (entry) => void entries.delete(entry),
  };
}
