// Decides whether the record of an attempt waits for others to share its commit with. It does so only while other attempts are
// under way that began a moment ago: waiting for receivers that hang, or for nobody, would hold up the next attempts.

/** Most receivers answer sooner; one that takes longer is not waited for. */
const soonMs = 20;

export interface Company {
  /** Returns what to call once the attempt is over. */
  join(): () => void;
  /** Whether others are likely to be over soon. */
  isExpected(): boolean;
}

export function createCompany(nowMs: () => number = () => performance.now()): Company {
  /** Attempts not known to be old, in the order of their beginning: at most those under way. */
  const young = new Set<{ readonly sinceMs: number }>();
  return {
    join() {
      const one = { sinceMs: nowMs() };
      young.add(one);
      return () => void young.delete(one);
    },
    isExpected() {
      const oldMs = nowMs() - soonMs;
      for (const one of young) {
        if (one.sinceMs > oldMs) return true;
        young.delete(one);
      }
      return false;
    },
  };
}
