// Deduplicates log entries with the same message and error: the first few are written, the others counted and summarized, so that a
// fault in every request neither fills the disk nor hides other entries.
import type { Log, LogLevel } from './log.ts';

/** Number of entries written individually within the time window. */
const writtenMax = 3;
const countedMs = 60_000;
/** Maximum number of request ids in a summary, by which an operator finds the failed request of a client. */
const requestIdsMax = 50;
/** Maximum number of distinct entries counted at a time; entries beyond it are written. */
const countedMax = 200;

interface Repeated {
  times: number;
  requestIds: string[];
}

export interface Repeats {
  /** Returns true if an entry is counted and must not be written now. */
  hold(level: LogLevel, message: string, fields: object): boolean;
}

export function createRepeats(after: (delayMs: number, run: () => void) => void, write: Log): Repeats {
  const counted = new Map<string, Repeated>();
  return {
    hold(level, message, fields) {
      const { error, requestId }: { error?: unknown; requestId?: unknown } = fields;
      // Entries without an error differ in their fields, so each is written.
      if (typeof error !== 'string') return false;
      const what = error.split('\n', 1)[0] ?? '';
      const key = `${level} ${message} ${what}`;
      let repeated = counted.get(key);
      if (!repeated) {
        if (counted.size >= countedMax) return false;
        repeated = { times: 0, requestIds: [] };
        counted.set(key, repeated);
        const { requestIds } = repeated;
        after(countedMs, () => {
          const times = (counted.get(key)?.times ?? 0) - writtenMax;
          counted.delete(key);
          if (times <= 0) return;
          write(level, message, {
            error: what,
            repeated: times,
            ...(requestIds.length > 0 ? { requestIds } : {}),
          });
        });
      }
      repeated.times++;
      if (repeated.times <= writtenMax) return false;
      if (typeof requestId === 'string' && repeated.requestIds.length < requestIdsMax)
        repeated.requestIds.push(requestId);
      return true;
    },
  };
}
