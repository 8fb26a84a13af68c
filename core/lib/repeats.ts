// Entries of the log that say the same: the first few are written, the others counted and told of together, so that a fault which every
// request meets neither fills the disk with log nor hides what else is there. The same is: the same message about the same error.
import type { Log, LogLevel } from './log.ts';

/** So many are written as they come, within the time after the first. */
const writtenMax = 3;
const countedMs = 60_000;
/** Of those that are counted, so many requests are named: their callers were told that the log knows them. */
const requestsNamed = 50;
/** Different ones that are counted at the same time. What comes beyond them is written. */
const countedMax = 200;

interface Repeated {
  times: number;
  requestIds: string[];
}

export interface Repeats {
  /** Whether an entry is counted, and not to be written now. */
  hold(level: LogLevel, message: string, fields: object): boolean;
}

export function createRepeats(after: (delayMs: number, run: () => void) => void, write: Log): Repeats {
  const counted = new Map<string, Repeated>();
  return {
    hold(level, message, fields) {
      const { error, requestId }: { error?: unknown; requestId?: unknown } = fields;
      // Others differ in what they are about, which is why they are told.
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
      if (typeof requestId === 'string' && repeated.requestIds.length < requestsNamed)
        repeated.requestIds.push(requestId);
      return true;
    },
  };
}
