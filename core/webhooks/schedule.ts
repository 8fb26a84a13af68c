/**
 * Retry schedule of failed deliveries: fixed offsets from the first attempt, so that the time of the final
 * attempt never moves (docs/spec/webhooks.md › Retries). Pure: clock and random source are arguments.
 */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Offsets of all attempts from the first one. */
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
/** The first attempt may take up to 15 s, so the 5 s retry can be overdue when it ends; it is then due at once. */
const FIRST_RETRY_OVERDUE_MAX_MS = MINUTE_MS;

export interface FailedAttempt {
  /** Number of attempts made, including the failed one: 1 after the first. */
  attempt: number;
  firstAttemptAtMs: number;
  nowMs: number;
  /** Delay requested by the receiver, from now. */
  retryAfterMs?: number;
  /** Uniform in [0, 1). */
  random: () => number;
}

/**
 * Returns the time of the next attempt, never before now and never later than 24 h after the first; `parked` if none
 * is left. `Retry-After` can only delay an attempt, at most to the final one at exactly 24 h.
 */
export function nextAttempt(failed: FailedAttempt): { atMs: number } | 'parked' {
  const { attempt, nowMs } = failed;
  // A first attempt in the future was recorded before the clock was set back.
  const firstAttemptAtMs = Math.min(failed.firstAttemptAtMs, nowMs);
  const finalAtMs = firstAttemptAtMs + RETRY_HORIZON_MS;
  if (nowMs >= finalAtMs) return 'parked';
  // Other missed offsets (server down, endpoint being probed) are skipped, because making up for them would
  // cause a burst of attempts.
  const overdueMaxMs = attempt === 1 ? FIRST_RETRY_OVERDUE_MAX_MS : 0;
  const elapsedMs = nowMs - firstAttemptAtMs;
  const offsetMs = ATTEMPT_OFFSETS_MS.slice(attempt).find(
    (candidateMs) => candidateMs > elapsedMs - overdueMaxMs,
  );
  if (offsetMs === undefined) return 'parked';
  const jitterMs = Math.floor(offsetMs * JITTER_MAX * failed.random());
  const dueAtMs = Math.max(firstAttemptAtMs + offsetMs + jitterMs, nowMs, nowMs + (failed.retryAfterMs ?? 0));
  // The horizon also limits the jitter of the final attempt.
  return { atMs: Math.min(dueAtMs, finalAtMs) };
}

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3): seconds or an HTTP date. Returns undefined if it is absent, malformed or in
 * the past.
 */
export function parseRetryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND_MS;
  // Only the format that HTTP prescribes: Date.parse would accept "1" or "next" as years.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined;
  const delayMs = Date.parse(text) - nowMs;
  return delayMs > 0 ? delayMs : undefined;
}
