// Clock, time limit of asynchronous work, and delays between attempts.

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

/**
 * Exponential backoff between a first and a last delay, with jitter so that work that failed together is not
 * retried together.
 */
interface BackoffPolicy {
  attemptsMax: number;
  /** Delay after the first attempt. */
  firstDelayMs: number;
  /** Delay before the last attempt. */
  lastDelayMs: number;
  /** Upper bound of the random share of a delay that is added to it, such as 0.1. */
  jitterMax: number;
}

/** Policy of plugin runs: the attempts span about 6 h. */
export const PLUGIN_RUN_BACKOFF: BackoffPolicy = {
  attemptsMax: 8,
  firstDelayMs: 10_000,
  lastDelayMs: 4 * 3_600_000,
  jitterMax: 0.1,
};

/** Returns the delay after `attempt` failed attempts (1 after the first); undefined if no attempt is left. */
export function backoffDelayMs(
  policy: BackoffPolicy,
  attempt: number,
  random: () => number,
): number | undefined {
  if (attempt >= policy.attemptsMax) return undefined;
  const steps = policy.attemptsMax - 2;
  const growth = steps > 0 ? (policy.lastDelayMs / policy.firstDelayMs) ** (1 / steps) : 1;
  const delayMs = policy.firstDelayMs * growth ** (Math.max(attempt, 1) - 1);
  return Math.round(delayMs * (1 + policy.jitterMax * random()));
}
