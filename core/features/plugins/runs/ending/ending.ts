// Ends an attempt of a run, then updates budget and counters and notifies waiters.
import type { Committed } from '../../../../kernel/changes/commit.ts';
import type { EventRow } from '../../../../kernel/events/event.ts';
import type { RunDeps } from '../../deps.ts';
import type { EndedRun } from '../../shadows/work.ts';
import { usageOf, type RunAttempt, type LeasedRun } from '../attempt/attempt.ts';
import { commitEnding, type Ending } from './ending-batch.ts';

/** @returns false if the reads of the attempt have changed and nothing was committed */
export type EndAttempt = (leased: LeasedRun, tried: RunAttempt | null, ending: Ending) => Promise<boolean>;

export function createEndAttempt(deps: RunDeps): EndAttempt {
  return async (leased, tried, ending) => {
    const { item, queue, run } = leased;
    const committed = await queue.whileSealed(item, () => commitCharged(deps, leased, tried, ending));
    if (committed.ok) {
      deps.services.outcomeCounter.count('runs', ending.againAtMs === undefined ? ending.status : 'retrying');
      if (ending.againAtMs === undefined) {
        deps.ends.note(run.id);
        if (tried && leased.event) deps.ended(endedOf(leased, leased.event, tried, ending));
      }
      return true;
    }
    if (committed.part === 'change') return false;
    queue.drop(item);
    deps.services.log('warn', 'run was ended by another process or request', {
      runId: run.id,
      part: committed.part,
      reason: committed.message,
    });
    return true;
  };
}

/**
 * Commits the end together with the usage of the attempt. A conflicting attempt, which is repeated, is not
 * charged.
 */
async function commitCharged(
  deps: RunDeps,
  leased: LeasedRun,
  tried: RunAttempt | null,
  ending: Ending,
): Promise<Committed> {
  if (!tried) return commitEnding(deps, leased, tried, ending);
  const charge = deps.usage.charge(tried.install, tried.meter, usageOf(tried.outcome).cpuMs);
  const more = [...(ending.more ?? []), ...charge.ops];
  try {
    const committed = await commitEnding(deps, leased, tried, { ...ending, more });
    const isCounted = committed.ok || committed.part !== 'change';
    charge.ended({ isWritten: committed.ok, isCounted });
    return committed;
  } catch (error) {
    charge.ended({ isWritten: false, isCounted: false });
    throw error;
  }
}

function endedOf(
  { item, run }: LeasedRun,
  event: EventRow,
  tried: RunAttempt,
  { status, error }: Ending,
): EndedRun {
  const { install, staged } = tried;
  return {
    scope: item.scope,
    install,
    run,
    event,
    error,
    changes: status === 'succeeded' ? staged.changes : [],
  };
}
