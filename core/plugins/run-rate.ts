// How many runs an install may start in a minute. What is over it waits for the next minute; nothing is dropped.
const windowMs = 60_000;

export interface RunRate {
  /** Counts a run; returns when it may start instead, or null for now. */
  take(installId: string): number | null;
}

/** @param perMinute 0 switches the limit off */
export function createRunRate(perMinute: number, nowMs: () => number): RunRate {
  const windows = new Map<string, { startedMs: number; runs: number }>();
  return {
    take(installId) {
      if (perMinute === 0) return null;
      const now = nowMs();
      const known = windows.get(installId);
      if (!known || now - known.startedMs >= windowMs || now < known.startedMs) {
        windows.set(installId, { startedMs: now, runs: 1 });
        return null;
      }
      if (known.runs >= perMinute) return known.startedMs + windowMs;
      known.runs++;
      return null;
    },
  };
}
