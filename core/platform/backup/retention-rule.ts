// Rules that decide which backups of a folder are retained. The configuration parses them, so this file loads no database.
import { dayMs } from '../lib/time/time.ts';

/**
 * Numbers of the last days, weeks and months whose newest backup is retained, and of the newest backups,
 * which are retained regardless of their age.
 */
export interface RetentionRule {
  readonly last: number;
  readonly daily: number;
  readonly weekly: number;
  readonly monthly: number;
}

/**
 * Parses a rule such as `last=3,daily=7,weekly=4,monthly=6`; omitted counts are 0. Returns null for an
 * invalid rule, or one that retains nothing.
 */
export function parseRetentionRule(text: string): RetentionRule | null {
  const rule: Record<string, number> = { last: 0, daily: 0, weekly: 0, monthly: 0 };
  for (const entry of text.split(',')) {
    const [, name = '', count = ''] = /^\s*(last|daily|weekly|monthly)=(\d{1,4})\s*$/.exec(entry) ?? [];
    if (name === '') return null;
    rule[name] = Number(count);
  }
  const { last = 0, daily = 0, weekly = 0, monthly = 0 } = rule;
  return last + daily + weekly + monthly > 0 ? { last, daily, weekly, monthly } : null;
}

interface DatedBackup {
  readonly createdAt: string;
}

/** Returns the number of the week since the epoch; weeks start on Monday. */
const weekOf = (time: string): string => String(Math.floor((Math.floor(Date.parse(time) / dayMs) + 3) / 7));

/** @param backups the newest first @returns the backups to retain, in the same order */
export function retainedOf<B extends DatedBackup>(backups: readonly B[], rule: RetentionRule): B[] {
  const retained = new Set<B>(backups.slice(0, rule.last));
  const newestOfEach = (count: number, periodOf: (time: string) => string): void => {
    const periods = new Set<string>();
    for (const backup of backups) {
      const period = periodOf(backup.createdAt);
      if (periods.has(period)) continue;
      if (periods.size === count) return;
      periods.add(period);
      retained.add(backup);
    }
  };
  newestOfEach(rule.daily, (time) => time.slice(0, 10));
  newestOfEach(rule.weekly, weekOf);
  newestOfEach(rule.monthly, (time) => time.slice(0, 7));
  return backups.filter((backup) => retained.has(backup));
}
