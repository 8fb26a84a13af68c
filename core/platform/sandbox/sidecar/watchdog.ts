// Ends entries that exceed their CPU limit by disposing of their isolate. Disposal stops JavaScript at once,
// but neither a long built-in nor the copying of a hostile rejection: an entry that still does not settle
// occupies a thread until this process dies.
import type { CpuMeter } from './meter.ts';
import type { TimedEntry } from './timed-isolate.ts';

const tickMs = 20;
/** CPU time within which a disposed isolate must release its thread. */
const settleMs = 300;
/** Ticks without an entry after which the polling stops. */
const idleTicksMax = 50;

export interface Watchdog {
  add(entry: TimedEntry): void;
  remove(entry: TimedEntry): void;
}

/** @param onStuck called once for each entry whose thread does not stop */
export function createWatchdog(meter: CpuMeter, onStuck: (entry: TimedEntry) => void): Watchdog {
  /** Bounded by the isolates that have a run. */
  const entries = new Set<TimedEntry>();
  const stuck = new WeakSet<TimedEntry>();
  let timer: NodeJS.Timeout | undefined;
  let idleTicks = 0;

  const rest = (): void => {
    if (++idleTicks < idleTicksMax) return;
    clearInterval(timer);
    timer = undefined;
    idleTicks = 0;
  };

  const check = (entry: TimedEntry, hadMs: number): void => {
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
