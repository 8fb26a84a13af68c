// When the next group of batches goes: at once where a writer is alone, a little later under load, so that more share its sync.

/**
 * Under load the next group waits as long as the last one took, at most this, so that more batches share its sync; after a slow one
 * half as long as that took, so that those who have just been answered come back in time for it, and do not take turns with the
 * others in groups of half the size. A writer alone never waits.
 */
const gatherMsMax = { quick: 2, slow: 8 };

interface GroupTimer {
  /** The group that is scheduled goes at its time, or earlier when a later batch is in more of a hurry. */
  schedule(delayMs: number): void;
  /** A group has been committed. @param startedMs of `performance.now` */
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
