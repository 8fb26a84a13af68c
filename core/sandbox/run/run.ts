// One run as the core sees it: answers the guest's calls, keeps every limit again that the sidecar was told, and collects
// what the run used.
import { answeringKinds } from '../../../sdk/plugin/handlers.ts';
import type { SidecarProcess } from '../fleet/process.ts';
import { ProtocolBreach, type Drained } from '../frames.ts';
import type { SandboxJob, SandboxOutcome } from '../job.ts';
import type { FromSidecar, RunEnd, RunNonce } from '../protocol.ts';
import { createRunCalls, type RunCalls, type RunCallsOptions } from './calls.ts';
import { createPacedCalls } from './paced.ts';
import { createRunChannel, type RunChannel } from './channel.ts';
import { failed, type Ending } from './ending.ts';
import { createRunLog } from './log.ts';
import { createOwnWait, createRunClock, createRunTimers, type OwnWait, type RunTimers } from './time.ts';

/** How often a run's wall limit may pass, waiting for the processor included. */
const wallBoundTimes = 10;
const wallLookMsMin = 50;
const thrownAway: Ending = {
  status: 'interrupted',
  message: 'The isolate was thrown away under the run.',
};

export interface RunOrder {
  readonly nonce: RunNonce;
  readonly job: SandboxJob;
  readonly lane: string;
  readonly sidecar: SidecarProcess;
  readonly queueMs: number;
  readonly clock: () => number;
  settle(outcome: SandboxOutcome): void;
}

export interface ActiveRun extends Pick<RunOrder, 'nonce' | 'job' | 'lane' | 'sidecar'> {
  readonly rssAtStartBytes: number;
  cpuMs: number;
  readonly channel: Pick<RunChannel, 'active' | 'stopping' | 'stop'>;
  /** @throws ProtocolBreach */
  drained(message: Drained): void;
  /** The sidecar says that the run is over. Calls that the handler did not await are still waited for: they belong to the run. */
  ended(message: Extract<FromSidecar, { t: 'end' }>): Promise<void>;
  finish(ending: Ending): void;
}

export function startRun(order: RunOrder): ActiveRun {
  const { nonce, job, lane, sidecar } = order;
  const startedAt = performance.now();
  const clock = createRunClock(order.clock);
  const timers = createRunTimers();
  const log = createRunLog(job.limits, clock);
  const channel = createRunChannel({ nonce, sidecar, timers, job, onSent: () => wait.lookMs() });
  const { send, stop, isClosed } = channel;
  const calls = callsOf({ nonce, job, sidecar, clock, timers, isOver: isClosed, send, stop });
  const wait = createOwnWait(() => !channel.active && calls.open === 0);
  let memoryBytes = 0;
  let ended = false;

  const finish = (ending: Ending): void => {
    if (isClosed()) return;
    channel.close();
    timers.clear();
    const wallMs = performance.now() - startedAt;
    const { cpuMs } = run;
    const { queueMs } = order;
    order.settle({ ...ending, cpuMs, memoryBytes, wallMs, queueMs, calls: calls.made, logs: log.lines() });
  };

  const run: ActiveRun = {
    nonce,
    job,
    lane,
    sidecar,
    rssAtStartBytes: sidecar.rssSeenBytes,
    cpuMs: 0,
    channel,
    finish,
    drained(message) {
      if (ended) throw new ProtocolBreach('A run said more than it may.');
      channel.hear(message);
      for (const [level, text] of message.logs) log.add(level, text);
      for (const call of message.calls) if (!isClosed() && !channel.stopping) calls.take(...call);
      if (!channel.active && !channel.stopping) calls.onIdle?.();
      wait.lookMs();
    },
    async ended({ end, ...usage }) {
      if (ended) return sidecar.kill('it broke the protocol: A run ended twice.');
      ended = true;
      job.tape?.heard(usage.acked, []);
      run.cpuMs = usage.cpuMs;
      memoryBytes = usage.memoryBytes;
      const breach = breachOf(end, job.handler.kind);
      if (breach !== null) return sidecar.kill(`it broke the protocol: ${breach}`);
      if (channel.stopping) return finish(channel.stopping);
      if (end.status === 'succeeded' && calls.open > 0) await calls.answered();
      finish(end.status === 'stopped' ? thrownAway : end);
    },
  };
  watchWall(job.limits.wallMs, startedAt, { timers, wait, stop });
  return run;
}

/** Why a handler of this kind cannot have ended so; null when it can. */
function breachOf(end: RunEnd, kind: SandboxJob['handler']['kind']): string | null {
  if (end.status !== 'succeeded') return null;
  if (end.progress && kind !== 'schedule') return 'Only a schedule goes on.';
  if (end.result !== undefined && !answeringKinds.includes(kind)) return 'Nobody waits for a result.';
  return null;
}

function callsOf(options: RunCallsOptions): RunCalls {
  const { pace } = options.job;
  return pace ? createPacedCalls({ ...options, pace }) : createRunCalls(options);
}

/** The wall limit counts the time in which a run waits for itself. Waiting for the processor and for our answers has a far wider bound. */
function watchWall(
  wallMs: number,
  startedAt: number,
  run: { timers: RunTimers; wait: OwnWait; stop(ending: Ending): void },
): void {
  const look = (): void => {
    const leftMs = wallMs - run.wait.lookMs();
    if (leftMs <= 0)
      return run.stop(failed('wall', `The run waited for itself longer than ${wallMs} ms.`, true));
    if (performance.now() - startedAt > wallMs * wallBoundTimes)
      return run.stop({ status: 'interrupted', message: 'The machine was too busy for this run.' });
    run.timers.after(Math.max(leftMs, wallLookMsMin), look);
  };
  run.timers.after(wallMs, look);
}
