// Routes the messages of sidecars to their runs, and the death of a sidecar to the runs that were in flight
// in it.
import { systemClock } from '../lib/time/clock.ts';
import { createFleet, type Fleet } from './fleet/fleet.ts';
import type { SidecarProcess, SidecarSettings, Spoken } from './fleet/process.ts';
import { createWatch, type Watch } from './fleet/watch.ts';
import { ProtocolBreach } from './frames.ts';
import type { InFlight } from './dispatch.ts';
import {
  absentOf,
  describeLevel,
  levelOf,
  missingOf,
  type JailLevel,
  type JailReport,
} from './jail/level.ts';
import type { SandboxOptions } from './job.ts';
import type { SandboxEnding } from './channel.ts';
import type { RunEnd } from './protocol.ts';
import type { ActiveRun } from './run.ts';
import type { Violations } from './describe.ts';

export interface Sidecars {
  readonly fleet: Fleet;
  readonly watch: Watch;
  /** Jail level that a sidecar last reported; undefined before the first sidecar is ready. */
  readonly jail: JailLevel | undefined;
}

export interface SidecarsOptions {
  readonly log: SandboxOptions['log'];
  readonly after?: SandboxOptions['after'];
  readonly spawn: SidecarSettings;
  readonly isSplit: boolean;
  readonly inFlight: InFlight;
  readonly violations: Violations;
  /** Called when a waiting job may be able to start. */
  onCapacity(): void;
}

export function createSidecars(options: SidecarsOptions): Sidecars {
  const { inFlight, violations, log, onCapacity } = options;
  const jail = createJailLog(log);

  /** Ends the runs of a sidecar that died. */
  const lose = (sidecar: SidecarProcess, death: Death): void => {
    const verdict = blame(inFlight.of(sidecar), death);
    for (const [run, ending] of verdict) recordViolation(violations, run, ending);
    for (const [run, ending] of verdict) run.finish(ending);
    onCapacity();
  };

  const condemn = (sidecar: SidecarProcess, death: Death): void => {
    log('warn', 'A sandbox sidecar is replaced.', { pid: sidecar.pid, why: death.why });
    fleet.retire(sidecar, death.why);
    lose(sidecar, death);
  };

  /** @throws ProtocolBreach */
  const onSidecarMessage = (sidecar: SidecarProcess, message: Spoken): void => {
    const run = inFlight.find(message.run);
    const author = inFlight.installOf(message.run);
    if (author === undefined || (run && run.sidecar !== sidecar) || (!run && message.t !== 'tainted'))
      throw new ProtocolBreach('The message names a run that this sidecar was not given.');
    if (message.t === 'tainted') {
      if (run) run.cpuMs = message.cpuMs;
      else violations.crashed(author);
      return condemn(sidecar, { cause: message.reason, why: message.message, culprit: run });
    }
    if (message.t === 'described') throw new ProtocolBreach('No description was requested.');
    if (!run) return;
    if (message.t === 'drained') return run.drained(message);
    sidecar.isolates = message.isolates;
    noteEnd(violations, run, message.end);
    void run.ended(message);
  };

  const fleet = createFleet({
    spawn: options.spawn,
    after: options.after ?? systemClock.after,
    split: options.isSplit,
    load: inFlight.load,
    log,
    onMessage: onSidecarMessage,
    onGone(sidecar, why) {
      const lastWords = fleet.lastWords(sidecar);
      lose(sidecar, sidecar.outOfMemory ? { why, lastWords, cause: 'memory' } : { why, lastWords });
    },
    onChange(report) {
      if (report) jail.note(report);
      onCapacity();
    },
  });
  const watch = createWatch({
    sidecars: () => readyOnes(fleet).map(({ sidecar }) => sidecar),
    load: inFlight.load,
    condemn: (sidecar, cause, why) => condemn(sidecar, { cause, why }),
  });
  return {
    fleet,
    watch,
    get jail() {
      return jail.level;
    },
  };
}

export function readyOnes(fleet: Fleet) {
  return fleet.members().filter(({ ready }) => ready);
}

function recordViolation(violations: Violations, run: ActiveRun, ending: SandboxEnding): void {
  if (ending.status === 'failed') violations.crashed(run.job.installId);
  else if (run.channel.active) violations.suspect(run.job.installId);
}

function noteEnd(violations: Violations, { job, channel }: ActiveRun, end: RunEnd): void {
  // A sidecar stops a run unrequested if it blocked the main thread.
  if (end.status === 'stopped' && !channel.stopping) violations.blocked(job.installId);
  violations.survived(job.installId);
}

/** Logs the jail level whenever it changes. */
function createJailLog(log: SandboxOptions['log']) {
  let level: JailLevel | undefined;
  return {
    get level() {
      return level;
    },
    note(report: JailReport): void {
      const now = levelOf(report);
      if (now === level) return;
      level = now;
      const fields = { ...report, missing: missingOf(report), absent: absentOf(report) };
      log(now === 'full' ? 'info' : 'warn', describeLevel(report), fields);
    },
  };
}

// Decides how each run in a sidecar ends when the sidecar dies. A run fails as the culprit only without doubt: the sidecar named it,
// or it alone was running guest code. Otherwise all runs are interrupted, and quarantine identifies the culprit later.

interface Death {
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

function blame(runs: readonly ActiveRun[], death: Death): Map<ActiveRun, SandboxEnding> {
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
