/**
 * When a failed delivery is attempted again: fixed offsets from its first attempt, so that what a delivery has been through
 * never moves its end (docs/spec/webhooks.md › Retries). Pure: clock and chance are arguments.
 */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Attempts are due this long after the first one. */
export const ATTEMPT_OFFSETS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  24 * HOUR_MS,
];
export const RETRY_HORIZON_MS = 24 * HOUR_MS;

const JITTER_MAX = 0.1;
/** The 5 s retry may pass while the first attempt, at most 15 s long, still runs: it is then due at once. */
const FIRST_RETRY_OVERDUE_MAX_MS = MINUTE_MS;

export interface FailedAttempt {
  /** How many attempts have been made, the failed one included: 1 after the first. */
  attempt: number;
  firstAttemptAtMs: number;
  nowMs: number;
  /** How long from now the receiver asked to be left alone. */
  retryAfterMs?: number;
  /** Uniform in [0, 1). */
  random: () => number;
}

/**
 * The next attempt, never before now and never past 24 h after the first; `parked` when none is left. A `Retry-After` can
 * only put an attempt off, at most to the final one, which is at exactly 24 h.
 */
export function nextAttempt(failed: FailedAttempt): { atMs: number } | 'parked' {
  const { attempt, nowMs } = failed;
  // A first attempt later than now was timed before the clock was set back.
  const firstAttemptAtMs = Math.min(failed.firstAttemptAtMs, nowMs);
  const finalAtMs = firstAttemptAtMs + RETRY_HORIZON_MS;
  if (nowMs >= finalAtMs) return 'parked';
  // Other offsets that have passed (the core was down, the endpoint was being probed) are left out: catching up would be a
  // burst of attempts in a row.
  const overdueMaxMs = attempt === 1 ? FIRST_RETRY_OVERDUE_MAX_MS : 0;
  const elapsedMs = nowMs - firstAttemptAtMs;
  const offsetMs = ATTEMPT_OFFSETS_MS.slice(attempt).find(
    (candidateMs) => candidateMs > elapsedMs - overdueMaxMs,
  );
  if (offsetMs === undefined) return 'parked';
  const jitterMs = Math.floor(offsetMs * JITTER_MAX * failed.random());
  const dueAtMs = Math.max(firstAttemptAtMs + offsetMs + jitterMs, nowMs, nowMs + (failed.retryAfterMs ?? 0));
  // The horizon also cuts off the final attempt's jitter.
  return { atMs: Math.min(dueAtMs, finalAtMs) };
}

/** Reads `Retry-After` (RFC 9110 §10.2.3): seconds or an HTTP date; undefined when absent, unreadable or already past. */
export function parseRetryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND_MS;
  // Only the form HTTP prescribes: Date.parse alone would take "1" or "next" for years.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined;
  const delayMs = Date.parse(text) - nowMs;
  return delayMs > 0 ? delayMs : undefined;
}
