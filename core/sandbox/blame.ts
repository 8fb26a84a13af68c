// Decides what the death of a sidecar means for each run in it. One culprit when there is no doubt: the sidecar named
// it, or it alone was running guest code. Otherwise nobody fails; those that may have done it are told apart in
// quarantine.
import type { Ending } from './run/ending.ts';
import type { ActiveRun } from './run/run.ts';

export interface Death {
  why: string;
  /** Known cause; absent when the process died by itself. */
  cause?: 'cpu' | 'memory' | 'silent' | 'fat' | 'threads';
  /** Whom the sidecar named. */
  culprit?: ActiveRun | undefined;
  lastWords?: string;
}

/** Endings that the sidecar's own process earned, as its operating system reports them. A SIGKILL comes from outside. */
const selfInflicted = /signal (SIGTRAP|SIGABRT|SIGSEGV|SIGILL|SIGBUS|SIGFPE|SIGSYS)/;

const ownGrowthBytes = 100 * 1024 * 1024;

export function blame(runs: readonly ActiveRun[], death: Death): Map<ActiveRun, Ending> {
  const culprit = death.culprit ?? onlyActive(runs, death);
  const verdict = new Map<ActiveRun, Ending>();
  for (const run of runs) {
    verdict.set(
      run,
      run === culprit
        ? failureOf(death)
        : (run.channel.stopping ?? {
            status: 'interrupted',
            message: `The sidecar was replaced: ${death.why}.`,
          }),
    );
  }
  return verdict;
}

function onlyActive(runs: readonly ActiveRun[], death: Death): ActiveRun | undefined {
  const [only, ...others] = runs.filter((run) => run.channel.active);
  if (!only || others.length > 0) return undefined;
  if (death.cause === undefined) return selfInflicted.test(death.why) ? only : undefined;
  // Many warm isolates also fill a process; whoever is at work when it is full need not have done it.
  return death.cause === 'memory' && only.sidecar.rssSeenBytes - only.rssAtStartBytes > ownGrowthBytes
    ? only
    : undefined;
}

function failureOf(death: Death): Ending {
  const memory =
    death.cause === 'memory' || /out of memory|Allocation failed|invalid size/i.test(death.lastWords ?? '');
  const reason = memory ? 'memory' : death.cause === 'cpu' ? 'cpu' : 'killed';
  return {
    status: 'failed',
    reason,
    message: `The run cost the sandbox its process: ${death.why}.`.slice(0, 500),
    killed: true,
  };
}
