// Decides if the record of an attempt waits to share a commit with others. The record waits only while other
// attempts are running that started recently: waiting for hanging receivers, or for nothing, would delay the
// next attempts.

/** Most receivers answer within this time; slower ones are not waited for. */
const soonMs = 20;

export interface CommitBatch {
  /** Registers an attempt. Returns the function to call once it is over. */
  join(): () => void;
  /** Returns true if other attempts are likely to end soon. */
  isExpected(): boolean;
}

export function createCommitBatch(nowMs: () => number = () => performance.now()): CommitBatch {
  /** Running attempts in start order, except those found to be older than `soonMs`. */
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
