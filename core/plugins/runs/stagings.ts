// Manages the staged writes of runs in progress: one staging per run, for its present attempt.
import { Staging, stagedCharsMax } from '../../changes/staging.ts';
import { FairQuota } from '../../lib/fairness/fair-quota.ts';
import type { Install } from '../installs/schema.ts';
import type { TriedRun } from './attempt.ts';
import { readSetOf } from './isolation.ts';

export interface Stagings {
  begin(leased: TriedRun, install: Install): Staging;
  forget(runId: string): void;
}

export function createStagings(options: Parameters<typeof readSetOf>[0]): Stagings {
  const quota = new FairQuota(stagedCharsMax);
  /** Bounded by the capacity of the run queue. */
  const stagings = new Map<string, Staging>();
  return {
    begin({ item: { scope }, run, event, world }, install) {
      const seen = world ? { past: world.past } : { reads: readSetOf(options, scope, install, event) };
      const staged = new Staging(quota, scope.workspaceId, install.id, seen);
      stagings.set(run.id, staged);
      return staged;
    },
    forget(runId) {
      stagings.get(runId)?.release();
      stagings.delete(runId);
    },
  };
}
