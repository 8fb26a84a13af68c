// Removes entries about given objects from the reports of backtests, gates and shadows. Totals are unchanged.
import type { Mentions } from '../../../platform/lib/text/mentions.ts';

/** Report fields whose entries are each about one event or one object. */
const entries: ReadonlySet<string> = new Set(['effects', 'samples', 'differences']);

/** @returns the same value if no entry is about the objects */
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
