// Time as a parameter: what reads or waits for it takes a Clock, so that a test runs a day of retries in a moment.

export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Milliseconds that only ever grow, whatever is done to the clock on the wall. */
  monotonicMs(): number;
  /** Runs once after the delay, which is monotonic; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

/** Node's timers take at most 2^31-1 ms. */
const timerMaxMs = 2_147_483_647;

export const systemClock: Clock = {
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(Math.max(0, delayMs), timerMaxMs));
    return () => clearTimeout(timer);
  },
};
