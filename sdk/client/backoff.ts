/** Delays before the next attempt, growing with each failure. */
const stepsMs = [200, 1_000, 3_000] as const;
const mostMs = 10_000;

/** @param failures number of previous delays */
export function backoffMs(failures: number): number {
  return stepsMs[failures] ?? mostMs;
}
