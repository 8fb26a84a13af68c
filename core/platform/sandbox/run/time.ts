// Time of a run: the guest's clock, timers that end with the run, and the time in which the run waits only for itself.

export interface RunClock {
  /** Age of the run as last sent to the guest. */
  readonly elapsedMs: number;
  /** Time on the guest's clock, milliseconds since the epoch. */
  readonly nowMs: number;
  /** Returns the age of the run now, plus `aheadMs`; does not advance the guest's clock. */
  ageMs(aheadMs?: number): number;
  /** Advances the guest's clock, never backwards, and returns its new value. */
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

/** Timers that end with their run. */
export interface RunTimers {
  after(ms: number, then: () => void): void;
  clear(): void;
}

export function createRunTimers(): RunTimers {
  /** Bounded by `timersMax` plus the wall limit and stop checks of the run. */
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
  /** Returns the time the run has waited only for itself. Call when the result of `waits` may change. */
  lookMs(): number;
}

/** @param waits returns true while no guest code runs and no host call is open */
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
