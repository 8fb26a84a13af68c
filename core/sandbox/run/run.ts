// One run as the core sees it: answers the guest's calls, keeps every limit again that the sidecar was told, and collects
// what the run used.
import type { SidecarProcess } from '../fleet/process.ts';
import { ProtocolBreach } from '../frames.ts';
import type { SandboxJob, SandboxOutcome } from '../job.ts';
import type { FromSidecar, RunNonce, ToSidecar } from '../protocol.ts';
import { createRunCalls } from './calls.ts';
import { failed, type Ending } from './ending.ts';
import { createRunLog } from './log.ts';
import { createSpeech } from './speech.ts';
import { createOwnWait, createRunClock, createRunTimers, type OwnWait, type RunTimers } from './time.ts';

/** A stop is obeyed at once; this is for its way there and back. */
const stopMs = 1500;
const stopLooksMax = 10;
/** How often a run's wall limit may pass, waiting for the processor included. */
const wallBoundTimes = 10;
const wallLookMsMin = 50;

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
  /** Guest code may be running now: the sidecar has not yet accounted for all it was sent. */
  readonly active: boolean;
  /** How it ends once the sidecar has thrown its isolate away, if that was asked for. */
  readonly stopping: Ending | undefined;
  /** @throws ProtocolBreach */
  drained(message: Extract<FromSidecar, { t: 'drained' }>): void;
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
  const speech = createSpeech(job.limits);
  const state = { sent: 1, memoryBytes: 0, ended: false, over: false };
  let stopping: Ending | undefined;

  const send = (message: ToSidecar): void => {
    if (state.over) return;
    state.sent++;
    sidecar.send(message);
    wait.lookMs();
  };

  /** Asks the sidecar to throw the isolate away; the run ends as `ending` when it has. */
  const stop = (ending: Ending): void => {
    if (state.over || stopping) return;
    stopping = ending;
    sidecar.send({ t: 'stop', run: nonce });
    killUnlessStopped(sidecar, timers);
  };

  const calls = createRunCalls({ nonce, job, sidecar, clock, timers, isOver: () => state.over, send, stop });
  const wait = createOwnWait(() => !run.active && calls.open === 0);

  const finish = (ending: Ending): void => {
    if (state.over) return;
    state.over = true;
    timers.clear();
    order.settle({
      ...ending,
      cpuMs: run.cpuMs,
      memoryBytes: state.memoryBytes,
      wallMs: performance.now() - startedAt,
      queueMs: order.queueMs,
      calls: calls.made,
      logs: log.lines(),
    });
  };

  const run: ActiveRun = {
    nonce,
    job,
    lane,
    sidecar,
    rssAtStartBytes: sidecar.rssSeenBytes,
    cpuMs: 0,
    finish,
    get active() {
      return state.sent > speech.acked;
    },
    get stopping() {
      return stopping;
    },
    drained(message) {
      if (state.ended) throw new ProtocolBreach('A run said more than it may.');
      speech.hear(message, state.sent);
      for (const [level, text] of message.logs) log.add(level, text);
      for (const [call, op, args] of message.calls) if (!state.over && !stopping) calls.take(call, op, args);
      wait.lookMs();
    },
    async ended({ end, cpuMs, memoryBytes }) {
      if (state.ended) return sidecar.kill('it broke the protocol: A run ended twice.');
      state.ended = true;
      run.cpuMs = cpuMs;
      state.memoryBytes = memoryBytes;
      if (end.status === 'succeeded' && end.progress && job.handler.kind !== 'schedule')
        return sidecar.kill('it broke the protocol: Only a schedule goes on.');
      if (stopping) return finish(stopping);
      if (end.status === 'stopped')
        return finish({ status: 'interrupted', message: 'The isolate was thrown away under the run.' });
      if (end.status === 'succeeded' && calls.open > 0) await calls.answered();
      finish(end);
    },
  };
  watchWall(job.limits.wallMs, startedAt, { timers, wait, stop });
  return run;
}

/** The wall's limit is for what the run itself waits: not for the processor, nor for our answers. Those have a far wider bound. */
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

/** A sidecar that speaks and yet does not stop a run is none of ours; one that does not get to speak has the watch to fear. */
function killUnlessStopped(sidecar: SidecarProcess, timers: RunTimers): void {
  const askedAt = performance.now();
  const look = (looks: number): void =>
    timers.after(stopMs, () => {
      const spoke = sidecar.heardAt - askedAt > stopMs / 2;
      if (spoke || looks === stopLooksMax) sidecar.kill('it did not stop a run');
      else look(looks + 1);
    });
  look(1);
}
