/** Abstracts time, so that tests can run a day of retries within milliseconds. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Monotonic milliseconds, unaffected by changes of the wall clock. */
  monotonicMs(): number;
  /** Calls `run` once after a monotonic delay; the returned function cancels the call. */
  after(delayMs: number, run: () => void): () => void;
}

/** Maximum delay of Node's timers. */
const timerMaxMs = 2_147_483_647;

export const systemClock: Clock = {
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(Math.max(0, delayMs), timerMaxMs));
    return () => clearTimeout(timer);
  },
};

/**
 * Settles like `work`, or rejects after the limit. The work continues after that, and its result is ignored.
 * @param late creates the error of the rejection
 */
export async function inTime<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), limitMs);
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
