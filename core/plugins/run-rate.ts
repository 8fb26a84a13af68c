// How many runs an install may start in a minute. What is over it waits for the next minute; nothing is dropped.
import { LRUCache } from 'lru-cache';

const windowMs = 60_000;
/** An install that is forgotten because so many others ran since begins a new minute. */
const installsHeldMax = 10_000;

export interface RunRate {
  /** Counts a run; returns after how long it may start instead (milliseconds), or null for now. */
  take(installId: string): number | null;
}

/**
 * @param perMinute 0 switches the limit off
 * @param nowMs monotonic
 * @param heldMax installs that are counted at once
 */
export function createRunRate(
  perMinute: number,
  nowMs: () => number,
  heldMax: number = installsHeldMax,
): RunRate {
  const windows = new LRUCache<string, { readonly startedMs: number; runs: number }>({ max: heldMax });
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
