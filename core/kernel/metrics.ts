// Metrics of features, for Prometheus.
import type { OutcomeCounter } from '../platform/lib/outcome-counter.ts';
import type { Store } from '../platform/store/store.ts';

export type LabelledValues = Iterable<readonly [label: string, value: number]>;

interface MetricSource {
  readonly store: Store;
  readonly outcomeCounter: OutcomeCounter;
}

export interface Metric {
  readonly type: 'gauge' | 'counter';
  /** Name with the prefix `tatami_`; that of a counter ends in `_total`. */
  readonly name: string;
  readonly help: string;
  /** Null for a single value, whose label is ignored. */
  readonly label: string | null;
  /** Called at each scrape. */
  read(source: MetricSource): LabelledValues | Promise<LabelledValues>;
}
