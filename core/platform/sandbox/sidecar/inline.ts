// Decides which guests are entered on the main thread, and measures these entries. An entry on another thread costs five times as much
// as a short entry itself: two thread switches, a promise and a wake of the event loop.

/**
 * Mean CPU time of short entries. Longer ones gain little, and would use one core only. A guest on the main thread returns to threads at
 * the double, because each change of threads may wait for the last one.
 */
const shortMs = 0.5;
/** Weight of the last entry in the mean. */
const lastWeight = 1 / 16;
/** The CPU time is read at most this often; in between, wall time bounds it. */
const readEveryMs = 1;
/**
 * Wall time after which an entry on the main thread is ended, because every other run waits for it. Below the silence for which the
 * core kills a sidecar, and above the time that a short entry waits for a busy CPU.
 */
export const inlineMsMax = 400;

export interface Inline {
  /** Sets the number of entries after which a guest with short ones is entered on the main thread. */
  setAfter(entries: number): void;
  newProof(): Proof;
  /** Calls `enter` and returns the CPU time that it used, in ms; not more than its wall time. */
  measure(enter: () => void): number;
  /** True if the last entry may have been ended for its time. */
  readonly wasLong: boolean;
}

/** Record of one guest. */
interface Proof {
  /** True while the entries are short. */
  readonly isGiven: boolean;
  /** Call after each entry. */
  note(usedMs: number): void;
}

/** @param ownCpuMs returns the CPU time of the calling thread; read rarely, because it is a system call */
export function createInline(nowMs: () => number, ownCpuMs: () => number): Inline {
  let after = Infinity;
  let wallMs = 0;
  let readAt = nowMs();
  let readCpuMs = ownCpuMs();

  const readCpu = (now: number): void => {
    readAt = now;
    readCpuMs = ownCpuMs();
  };

  return {
    setAfter: (entries) => void (after = entries),
    get wasLong() {
      return wallMs >= inlineMsMax;
    },
    newProof() {
      let entries = 0;
      let meanMs = 0;
      let isGiven = after === 0;
      return {
        get isGiven() {
          return isGiven;
        },
        note(usedMs) {
          entries++;
          meanMs += (usedMs - meanMs) * lastWeight;
          isGiven = isGiven ? meanMs <= 2 * shortMs : entries >= after && meanMs <= shortMs;
        },
      };
    },
    measure(enter) {
      const startedAt = nowMs();
      if (startedAt - readAt > readEveryMs) readCpu(startedAt);
      enter();
      const now = nowMs();
      wallMs = now - startedAt;
      if (wallMs <= readEveryMs) return wallMs;
      // A long time may be the wait for a busy CPU. The CPU time since the last reading is an upper bound.
      const before = readCpuMs;
      readCpu(now);
      return Math.min(wallMs, readCpuMs - before);
    },
  };
}
