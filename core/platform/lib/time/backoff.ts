/**
 * Exponential backoff between a first and a last delay, with jitter so that work that failed together is not retried together.
 * Pure: the random source is an argument.
 */

export interface BackoffPolicy {
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
