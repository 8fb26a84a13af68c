// Ends an attempt of a run, and what follows once that is committed: its budget, its count, and those who wait for it.
import type { Committed } from '../../changes/commit.ts';
import type { EventRow } from '../../events/event.ts';
import type { Log } from '../../lib/log.ts';
import type { Tally } from '../../lib/tally.ts';
import type { Usage } from '../budgets/usage.ts';
import type { EndedRun } from '../shadows/work.ts';
import { usageOf, type Attempt, type HeldRun } from './attempt.ts';
import { commitEnding, type BatchOptions, type Ending } from './ending-batch.ts';
import type { RunEnds } from './ends.ts';

/** @returns false when what the attempt read has changed, and nothing of it was kept */
export type EndAttempt = (held: HeldRun, tried: Attempt | null, ending: Ending) => Promise<boolean>;

export interface EndingOptions extends BatchOptions {
  readonly log: Log;
  readonly tally: Tally;
  readonly ends: Pick<RunEnds, 'note'>;
  readonly usage: Usage;
  /** Told of each run for an event that is over, once that is committed. */
  readonly ended: (ended: EndedRun) => void;
}

export function createEndAttempt(options: EndingOptions): EndAttempt {
  return async (held, tried, ending) => {
    const { item, queue, run } = held;
    const committed = await queue.whileSealed(item, () => commitCharged(options, held, tried, ending));
    if (committed.ok) {
      options.tally.count('runs', ending.againAtMs === undefined ? ending.status : 'retrying');
      if (ending.againAtMs === undefined) {
        options.ends.note(run.id);
        if (tried && held.event) options.ended(endedOf(held, held.event, tried, ending));
      }
      return true;
    }
    if (committed.part === 'change') return false;
    queue.drop(item);
    options.log('warn', 'a run was ended elsewhere', {
      runId: run.id,
      part: committed.part,
      reason: committed.message,
    });
    return true;
  };
}

/** With what the attempt used; an attempt of which nothing is kept, as others changed what it read, is made again and not counted. */
async function commitCharged(
  options: EndingOptions,
  held: HeldRun,
  tried: Attempt | null,
  ending: Ending,
): Promise<Committed> {
  if (!tried) return commitEnding(options, held, tried, ending);
  const charge = options.usage.charge(tried.install, tried.meter, usageOf(tried.outcome).cpuMs);
  const more = [...(ending.more ?? []), ...charge.ops];
  try {
    const committed = await commitEnding(options, held, tried, { ...ending, more });
    const isCounted = committed.ok || committed.part !== 'change';
    charge.ended({ isWritten: committed.ok, isCounted });
    return committed;
  } catch (error) {
    charge.ended({ isWritten: false, isCounted: false });
    throw error;
  }
}

function endedOf(
  { item, run }: HeldRun,
  event: EventRow,
  tried: Attempt,
  { status, error }: Ending,
): EndedRun {
  const { install, staged } = tried;
  return {
    ...{ scope: item.scope, install, run, event, error },
    changes: status === 'succeeded' ? staged.changes : [],
  };
}
