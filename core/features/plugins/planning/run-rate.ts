// Limits the runs or requests of an install per minute. The caller decides to defer or to refuse those over
// the limit.
import { LRUCache } from 'lru-cache';

const windowMs = 60_000;
/** Limit of installs with counts in memory. An evicted install starts a new minute. */
const trackedInstallsMax = 10_000;

export interface RunRate {
  /** Counts a run. Returns null if it can start now, else the wait time in milliseconds. */
  take(installId: string): number | null;
}

/**
 * @param perMinute 0 disables the limit
 * @param nowMs monotonic clock
 * @param trackedMax limit of installs with counts in memory
 */
export function createRunRate(
  perMinute: number,
  nowMs: () => number,
  trackedMax: number = trackedInstallsMax,
): RunRate {
  const windows = new LRUCache<string, { readonly startedMs: number; runs: number }>({ max: trackedMax });
  return {
    take(installId) {
      if (perMinute === 0) return null;
      const now = nowMs();
      const known = windows.get(installId);
      if (!known || now - known.startedMs >= windowMs) {
        windows.set(installId, { startedMs: now, runs: 1 });
        return null;
      }
      if (known.runs >= perMinute) return known.startedMs + windowMs - now;
      known.runs++;
      return null;
    },
  };
}
