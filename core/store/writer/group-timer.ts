// Schedules the next group of batches: at once for a single writer, slightly later under load, so that more batches share its sync.

/**
 * Maximum gather times in milliseconds. Under load the next group waits as long as the last one took, up to `quick`. After a slow group it
 * waits half of that duration, up to `slow`, so that callers that were just answered can join it instead of alternating with the others in
 * groups of half the size. A single writer never waits.
 */
const gatherMsMax = { quick: 2, slow: 8 };

interface GroupTimer {
  /** Schedules a group; a scheduled group is sent earlier if a later batch has a shorter delay. */
  schedule(delayMs: number): void;
  /** Records a committed group. @param startedMs start of the group, from `performance.now` */
  committed(batches: number, startedMs: number): void;
}

export function createGroupTimer(go: () => void): GroupTimer {
  let last = { batches: 0, endedMs: 0, tookMs: 0 };
  let scheduled: { readonly dueMs: number; readonly timer: ReturnType<typeof setTimeout> | null } | null =
    null;

  const fire = (): void => {
    scheduled = null;
    go();
  };

  return {
    schedule(delayMs) {
      const nowMs = performance.now();
      const gatherMs = last.batches > 1 ? last.endedMs + gatherMsAfter(last.tookMs) - nowMs : 0;
      const waitMs = Math.max(delayMs, gatherMs >= 0.5 ? gatherMs : 0);
      const dueMs = nowMs + waitMs;
      if (scheduled && dueMs >= scheduled.dueMs) return;
      if (scheduled?.timer) clearTimeout(scheduled.timer);
      if (waitMs > 0) scheduled = { dueMs, timer: setTimeout(fire, waitMs) };
      else {
        scheduled = { dueMs: 0, timer: null };
        setImmediate(fire);
      }
    },
    committed(batches, startedMs) {
      const endedMs = performance.now();
      last = { batches, endedMs, tookMs: endedMs - startedMs };
    },
  };
}

function gatherMsAfter(tookMs: number): number {
  return Math.max(Math.min(tookMs, gatherMsMax.quick), Math.min(tookMs / 2, gatherMsMax.slow));
}
