// Decides how each run in a sidecar ends when the sidecar dies. A run fails as the culprit only without doubt: the sidecar named it,
// or it alone was running guest code. Otherwise all runs are interrupted, and quarantine identifies the culprit later.
import type { SandboxEnding } from './run/ending.ts';
import type { ActiveRun } from './run/run.ts';

export interface Death {
  why: string;
  /** Absent if the process exited unexpectedly. */
  cause?: 'cpu' | 'memory' | 'silent' | 'fat' | 'threads';
  /** The run that the sidecar named. */
  culprit?: ActiveRun | undefined;
  lastWords?: string;
}

/** Signals that a process causes itself. A SIGKILL comes from outside. */
const selfInflicted = /signal (SIGTRAP|SIGABRT|SIGSEGV|SIGILL|SIGBUS|SIGFPE|SIGSYS)/;

const ownGrowthBytes = 100 * 1024 * 1024;

export function blame(runs: readonly ActiveRun[], death: Death): Map<ActiveRun, SandboxEnding> {
  const culprit = death.culprit ?? onlyActive(runs, death);
  const verdict = new Map<ActiveRun, SandboxEnding>();
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
  // Many warm isolates also fill a process, so the active run is the culprit only if memory grew during it.
  return death.cause === 'memory' && only.sidecar.rssSeenBytes - only.rssAtStartBytes > ownGrowthBytes
    ? only
    : undefined;
}

function failureOf(death: Death): SandboxEnding {
  const memory =
    death.cause === 'memory' || /out of memory|Allocation failed|invalid size/i.test(death.lastWords ?? '');
  const reason = memory ? 'memory' : death.cause === 'cpu' ? 'cpu' : 'killed';
  return {
    status: 'failed',
    reason,
    message: `The run crashed the sandbox process: ${death.why}. Replay the run to find the cause.`.slice(
      0,
      500,
    ),
    killed: true,
  };
}
