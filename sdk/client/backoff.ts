/** How long to wait before trying again, longer with each failure. */
const stepsMs = [200, 1_000, 3_000] as const;
const mostMs = 10_000;

/** @param failures how many waits there have been for it before */
export function backoffMs(failures: number): number {
  return stepsMs[failures] ?? mostMs;
}
