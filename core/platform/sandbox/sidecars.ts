// Routes the messages of sidecars to their runs, and the death of a sidecar to the runs that were in flight
// in it.
import { systemClock } from '../lib/time/clock.ts';
import { blame, type Death } from './blame.ts';
import { createFleet, type Fleet } from './fleet/fleet.ts';
import type { SidecarProcess, SidecarSettings, Spoken } from './fleet/process.ts';
import { createWatch, type Watch } from './fleet/watch.ts';
import { ProtocolBreach } from './frames.ts';
import type { InFlight } from './in-flight.ts';
import {
  absentOf,
  describeLevel,
  levelOf,
  missingOf,
  type JailLevel,
  type JailReport,
} from './jail/level.ts';
import type { SandboxOptions } from './job.ts';
import type { SandboxEnding } from './run/ending.ts';
import type { ActiveRun } from './run/run.ts';
import type { Violations } from './violations.ts';

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
    violations.survived(author);
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
