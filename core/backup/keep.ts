// Retention rule of backups: the newest of each of the last days, weeks and months that have one, and the last `last` backups.
import { dayMs } from '../lib/time.ts';

export interface Keep {
  readonly last: number;
  readonly daily: number;
  readonly weekly: number;
  readonly monthly: number;
}

export interface KeptBackup {
  readonly createdAt: string;
}

/** Number of the week, counted from the Monday of the epoch's first week. */
const weekOf = (time: string): string => String(Math.floor((Math.floor(Date.parse(time) / dayMs) + 3) / 7));

/** @param backups the newest first @returns the backups to retain, in the same order */
export function keptOf<B extends KeptBackup>(backups: readonly B[], keep: Keep): B[] {
  const kept = new Set<B>(backups.slice(0, keep.last));
  const newestOfEach = (count: number, periodOf: (time: string) => string): void => {
    const periods = new Set<string>();
    for (const backup of backups) {
      const period = periodOf(backup.createdAt);
      if (periods.has(period)) continue;
      if (periods.size === count) return;
      periods.add(period);
      kept.add(backup);
    }
  };
  newestOfEach(keep.daily, (time) => time.slice(0, 10));
  newestOfEach(keep.weekly, weekOf);
  newestOfEach(keep.monthly, (time) => time.slice(0, 7));
  return backups.filter((backup) => kept.has(backup));
}

/**
 * Parses a rule such as `last=3,daily=7,weekly=4,monthly=6`; omitted counts are 0. Returns null for an invalid rule, or one that retains
 * nothing.
 */
export function parseKeep(text: string): Keep | null {
  const keep: Record<string, number> = { last: 0, daily: 0, weekly: 0, monthly: 0 };
  for (const entry of text.split(',')) {
    const [, name = '', count = ''] = /^\s*(last|daily|weekly|monthly)=(\d{1,4})\s*$/.exec(entry) ?? [];
    if (name === '') return null;
    keep[name] = Number(count);
  }
  const { last = 0, daily = 0, weekly = 0, monthly = 0 } = keep;
  return last + daily + weekly + monthly > 0 ? { last, daily, weekly, monthly } : null;
}
