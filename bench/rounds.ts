// Interleaved rounds (A B A B …) of one load against several servers. Other load on the machine affects all of them alike, so the
// ratio of the medians is stable where the figures are not.
import type { LoadPlan, LoadResult } from './load/load.ts';
import { startChild, type Child } from './children.ts';
import { median, type Side } from './report.ts';

export interface Effort {
  readonly rounds: number;
  readonly roundMs: number;
  /** True to run the largest size of `growth` as well, which takes a quarter of an hour. */
  readonly isLarge?: boolean;
}

export const fullEffort: Effort = { rounds: 7, roundMs: 1_500 };
export const quickEffort: Effort = { rounds: 3, roundMs: 700 };

export function startLoad(): Child {
  return startChild('load/load.ts');
}

/** Returns the medians of each side, after one unmeasured round each to warm up client and server. */
export async function interleave<Name extends string>(
  load: Child,
  effort: Effort,
  plans: Readonly<Record<Name, Omit<LoadPlan, 'durationMs'>>>,
): Promise<Record<Name, Side>> {
  const names = Object.keys(plans) as Name[];
  const results = new Map<Name, LoadResult[]>(names.map((name) => [name, []]));
  for (let round = -1; round < effort.rounds; round++)
    for (const name of names) {
      const result = await load.ask<LoadResult>('run', { ...plans[name], durationMs: effort.roundMs });
      if (result.refused > 0)
        throw new Error(`${name}: ${result.refused} of ${result.requests} requests were refused.`);
      if (round >= 0) results.get(name)!.push(result);
    }
  return Object.fromEntries(names.map((name) => [name, sideOf(results.get(name)!)])) as Record<Name, Side>;
}

export function sideOf(results: readonly LoadResult[]): Side {
  const of = (field: 'perSecond' | 'cpuUs' | 'p50Ms' | 'p99Ms'): number =>
    median(results.map((result) => result[field]));
  return { perSecond: of('perSecond'), cpuUs: of('cpuUs'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms') };
}
