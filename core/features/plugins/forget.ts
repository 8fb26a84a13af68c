// Removes what reports of plugins quote of purged issues.
import type { Mentions } from '../../platform/lib/ids.ts';

/** Does the same as `withoutEntries`. @param report JSON */
export function withoutEntriesIn<T extends string | null>(report: T, isAbout: Mentions): T | string {
  if (report === null || !isAbout(report)) return report;
  return JSON.stringify(withoutEntries(JSON.parse(report) as unknown, isAbout));
}

/** Report fields whose entries are each about one event or one object. */
const entries: ReadonlySet<string> = new Set(['effects', 'samples', 'differences']);

/**
 * Removes entries about given objects from a report of a backtest, gate or shadow. Totals are unchanged.
 * @returns the same value if no entry is about the objects
 */
export function withoutEntries<T>(report: T, isAbout: Mentions): T {
  return isAbout(JSON.stringify(report)) ? (pruned(report, isAbout) as T) : report;
}

function pruned(value: unknown, isAbout: Mentions): unknown {
  if (Array.isArray(value)) return value.map((one) => pruned(one, isAbout));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      entries.has(name) && Array.isArray(member)
        ? member.filter((one) => !isAbout(JSON.stringify(one)))
        : pruned(member, isAbout),
    ]),
  );
}
