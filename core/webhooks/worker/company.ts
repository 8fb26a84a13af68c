// Whether an attempt that is over should wait for others to share its commit with: only while some are under way that began a
// moment ago. Waiting for receivers that hang, or for nobody, would hold up the next attempts for nothing.

/** Most answers come sooner; who takes longer is not waited for. */
const soonMs = 20;

interface UnderWay {
  readonly sinceMs: number;
  isOver: boolean;
}

export interface Company {
  /** Returns what to call once the attempt is over. */
  join(): () => void;
  /** Whether others are likely to be over soon. */
  isExpected(): boolean;
}

export function createCompany(nowMs: () => number = () => performance.now()): Company {
  /** Those not known to be old, in the order of their beginning. */
  const young: UnderWay[] = [];
  return {
    join() {
      const one: UnderWay = { sinceMs: nowMs(), isOver: false };
      young.push(one);
      return () => void (one.isOver = true);
    },
    isExpected() {
      const oldMs = nowMs() - soonMs;
      while (young[0] && (young[0].isOver || young[0].sinceMs <= oldMs)) young.shift();
      return young.length > 0;
    },
  };
}
