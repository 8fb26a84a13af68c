// Counters of outcomes since startup, read by the metrics.

type Counted = 'runs' | 'deliveries';

export interface OutcomeCounter {
  /** @param outcome one of a small set */
  count(what: Counted, outcome: string): void;
  of(what: Counted): ReadonlyMap<string, number>;
}

export function createOutcomeCounter(): OutcomeCounter {
  const counts: Readonly<Record<Counted, Map<string, number>>> = { runs: new Map(), deliveries: new Map() };
  return {
    count: (what, outcome) => void counts[what].set(outcome, (counts[what].get(outcome) ?? 0) + 1),
    of: (what) => counts[what],
  };
}
