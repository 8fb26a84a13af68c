// Search parameters of the triage queue.
import type { FilterTree } from '../../parts/filter/filter.ts';

export interface TriageSearch {
  /** Filter tree of the API, which narrows the queue. */
  readonly filter?: FilterTree;
  /** Identifier or id of the issue shown. */
  readonly issue?: string;
}

export function triageSearch({ filter, issue }: Readonly<Record<string, unknown>>): TriageSearch {
  return {
    ...(typeof filter === 'object' && filter !== null && { filter: filter as FilterTree }),
    ...(typeof issue === 'string' && { issue }),
  };
}

/** Returns the issue that is shown once one has left the queue: the next one, or else the one before it. */
export function following<T extends { readonly id: string }>(queue: readonly T[], id: string): T | null {
  const index = queue.findIndex((issue) => issue.id === id);
  return queue[index + 1] ?? queue[index - 1] ?? null;
}

/** Times that a person can snooze until, as RFC 3339. */
export function snoozeTimes(now: Date): {
  readonly hours: string;
  readonly tomorrow: string;
  readonly week: string;
} {
  const morning = (days: number): string => {
    const time = new Date(now);
    time.setDate(time.getDate() + days);
    time.setHours(9, 0, 0, 0);
    return time.toISOString();
  };
  const daysToMonday = (8 - now.getDay()) % 7 || 7;
  const hours = new Date(now.getTime() + 3 * 3_600_000).toISOString();
  return { hours, tomorrow: morning(1), week: morning(daysToMonday) };
}
