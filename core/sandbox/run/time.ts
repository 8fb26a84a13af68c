// The times of a run: its clock as the guest is told it, timers that end with it, and how long it has waited for itself.

export interface RunClock {
  /** The run's age as the guest was last told it. */
  readonly elapsedMs: number;
  /** That age as a time. */
  readonly nowMs: number;
  /** The run's age now, `aheadMs` ahead of it; the guest is not told it. */
  ageMs(aheadMs?: number): number;
  /** What the guest is told from now on; never less than before. */
  advanceTo(ageMs: number): number;
}

export function createRunClock(clock: () => number): RunClock {
  const startedAtMs = clock();
  let elapsedMs = 0;
  return {
    get elapsedMs() {
      return elapsedMs;
    },
    get nowMs() {
      return startedAtMs + elapsedMs;
    },
    ageMs: (aheadMs = 0) => Math.max(elapsedMs, clock() - startedAtMs) + aheadMs,
    advanceTo(ageMs) {
      elapsedMs = Math.max(elapsedMs, ageMs);
      return elapsedMs;
    },
  };
}

/** Timers that die with their run. */
export interface RunTimers {
  after(ms: number, then: () => void): void;
  clear(): void;
}

export function createRunTimers(): RunTimers {
  /** Bounded by what a run may start: its sleeps, its wall and the looks at whether it stops. */
  const timers = new Set<Timer>();
  return {
    after(ms, then) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        then();
      }, ms);
      timers.add(timer);
    },
    clear() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

export interface OwnWait {
  /** How long the run has waited for nothing but itself; to be asked whenever that may change. */
  lookMs(): number;
}

/** @param waits whether it does now: no guest code runs, and no host call is open */
export function createOwnWait(waits: () => boolean): OwnWait {
  let waitedMs = 0;
  let waited = false;
  let lookedAt = performance.now();
  return {
    lookMs() {
      const now = performance.now();
      if (waited) waitedMs += now - lookedAt;
      lookedAt = now;
      waited = waits();
      return waitedMs;
    },
  };
}
