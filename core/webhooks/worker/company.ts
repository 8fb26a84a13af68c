// Whether an attempt that is over should wait for others to share its commit with: only while some are under way that began a
// moment ago. Waiting for receivers that hang, or for nobody, would hold up the next attempts for nothing.

/** Most answers come sooner; who takes longer is not waited for. */
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
