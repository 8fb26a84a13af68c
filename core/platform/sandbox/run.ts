// Controls one run from the core: answers its calls, enforces all limits again that the sidecar also enforces, and collects its
// usage.
import { answeringKinds } from '../../../sdk/plugin/handlers.ts';
import type { SidecarProcess } from './fleet/process.ts';
import { nothingSaid, ProtocolBreach, type Drained } from './frames.ts';
import type { SandboxJob, SandboxOutcome, RunUsage, Pace } from './job.ts';
import {
  type FromSidecar,
  type RunEnd,
  type RunNonce,
  type GuestLogLevel,
  type RunLimits,
  messageMax,
  type CallReply,
} from './protocol.ts';
import {
  createRunCalls,
  type RunCalls,
  type RunCallsOptions,
  createRunChannel,
  type RunChannel,
  failed,
  type SandboxEnding,
  createOwnWait,
  createRunClock,
  createRunTimers,
  type OwnWait,
  type RunTimers,
  type RunClock,
} from './channel.ts';
import { plainText } from '../lib/text/printable.ts';

/** A run ends at this multiple of its wall limit, time spent waiting for the CPU included. */
const wallBoundTimes = 10;
const wallLookMsMin = 50;
const isolateDiscarded: SandboxEnding = {
  status: 'interrupted',
  message: 'The isolate was disposed of during the run.',
};

/** A run in its sidecar. */
interface PlacedRun {
  readonly nonce: RunNonce;
  readonly job: SandboxJob;
  readonly queueName: string;
  readonly sidecar: SidecarProcess;
}

interface RunOrder extends PlacedRun {
  readonly queueMs: number;
  readonly clock: () => number;
  settle(outcome: SandboxOutcome): void;
}

// Answers the calls and timers of a replay from its recording, grouped and timed as recorded.

interface PacedCallsOptions {
  readonly nonce: RunNonce;
  readonly pace: Pace;
  readonly clock: RunClock;
  send(message: CallReply): void;
  stop(ending: SandboxEnding): void;
}

const ended: SandboxEnding = { status: 'interrupted', message: 'The replay was ended.' };

function createPacedCalls({ nonce: run, pace, clock, send, stop }: PacedCallsOptions): RunCalls {
  let count = 0;
  return {
    get count() {
      return count;
    },
    // A recording answers at once, so no call is ever open.
    open: 0,
    answered: () => Promise.resolve(),
    take(...call) {
      if (call[1] !== 'sleep') count++;
      if (!pace.take(call)) stop(ended);
    },
    onIdle() {
      const answers = pace.next();
      if (answers === null) return stop(ended);
      // With no answers left, either the end of the run is in transit or its wall limit ends it.
      for (const [at, { call, answer, elapsedMs: ageMs }] of answers.entries()) {
        const elapsedMs = clock.advanceTo(ageMs);
        const about = { run, call, elapsedMs, ...(at < answers.length - 1 ? { more: true as const } : {}) };
        if (answer.ok) send({ t: 'answer', ...about, value: answer.value });
        else {
          const { code, message } = answer.error;
          send({ t: 'refuse', ...about, code, message: message.slice(0, messageMax) });
        }
      }
    },
  };
}

export interface ActiveRun extends PlacedRun {
  readonly rssAtStartBytes: number;
  cpuMs: number;
  readonly channel: RunChannel;
  /** @throws ProtocolBreach */
  drained(message: Drained): void;
  /**
   * Handles the sidecar's report of the end of the run. Waits for calls that the handler did not await,
   * because they belong to the run.
   */
  ended(message: Extract<FromSidecar, { t: 'end' }>): Promise<void>;
  finish(ending: SandboxEnding): void;
}

// Collects the log of a run and enforces its limits again, because the sidecar is untrusted.

interface RunLog {
  add(level: GuestLogLevel, text: string): void;
  /** Returns all lines; the last one is a notice if lines were dropped. */
  lines(): RunUsage['logs'];
}

function createRunLog({ logLines, logBytes }: RunLimits, clock: RunClock): RunLog {
  const logs: RunUsage['logs'] = [];
  let bytes = 0;
  let isCut = false;
  return {
    add(level, text) {
      if (logs.length >= logLines || bytes >= logBytes) {
        isCut = true;
        return;
      }
      const message = plainText(text).slice(0, logBytes - bytes);
      bytes += message.length;
      logs.push({ level, message, atMs: clock.nowMs });
    },
    lines() {
      const message =
        'Further log lines were dropped, because the run reached its log limit. Log less per run.';
      return isCut ? [...logs, { level: 'warn', message, atMs: clock.nowMs }] : logs;
    },
  };
}

export function startRun(order: RunOrder): ActiveRun {
  const { nonce, job, queueName, sidecar } = order;
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

  const finish = (ending: SandboxEnding): void => {
    if (isClosed()) return;
    channel.close();
    timers.clear();
    const wallMs = performance.now() - startedAt;
    const { cpuMs } = run;
    const { queueMs } = order;
    order.settle({ ...ending, cpuMs, memoryBytes, wallMs, queueMs, calls: calls.count, logs: log.lines() });
  };

  const run: ActiveRun = {
    nonce,
    job,
    queueName,
    sidecar,
    rssAtStartBytes: sidecar.rssSeenBytes,
    cpuMs: 0,
    channel,
    finish,
    drained({ acked, said }) {
      if (ended) throw new ProtocolBreach('A run sent a message after its end.');
      channel.hear(acked, said ?? nothingSaid);
      if (!said) return stopChanged(run);
      for (const [level, text] of said.logs) log.add(level, text);
      for (const call of said.calls) if (!isClosed() && !channel.stopping) calls.take(...call);
      if (!channel.active && !channel.stopping) calls.onIdle?.();
      wait.lookMs();
    },
    async ended({ end, open, ...usage }) {
      if (ended) return sidecar.kill('protocol violation: A run ended twice.');
      ended = !open;
      job.tape?.recordCalls(usage.acked, []);
      run.cpuMs = usage.cpuMs;
      memoryBytes = usage.memoryBytes;
      const breach = breachOf(end, job.handler.kind);
      if (breach !== null) return sidecar.kill(`protocol violation: ${breach}`);
      if (channel.stopping) return open ? undefined : finish(channel.stopping);
      if (open && !(await settleCalls(run, calls))) return;
      if (end.status === 'succeeded' && calls.open > 0) await calls.answered();
      finish(end.status === 'stopped' ? isolateDiscarded : end);
    },
  };
  watchWall(job.limits.wallMs, startedAt, { timers, wait, stop, sidecar });
  return run;
}

/** Stops a run whose plugin has changed the guest program. Its isolate is not used again, even if the run has ended there. */
function stopChanged({ channel, sidecar, queueName }: ActiveRun): void {
  sidecar.send({ t: 'evict', prefix: queueName });
  channel.stop(failed('protocol', 'The guest returned invalid output.', true));
}

/**
 * Waits for the open calls of a handler that has ended. Returns true if the run ends with that, and false if it goes on, because an
 * answer is on its way or a call was refused, which the plugin may handle.
 */
async function settleCalls({ nonce, channel, sidecar }: ActiveRun, calls: RunCalls): Promise<boolean> {
  if (channel.active) return false;
  const replies = channel.hold();
  await calls.answered();
  if (channel.isClosed() || channel.stopping) return false;
  const isRefused = replies.some(({ t }) => t === 'refuse');
  if (isRefused) channel.release();
  else sidecar.send({ t: 'close', run: nonce });
  return !isRefused;
}

/** Returns the protocol violation of an end that this type of handler cannot have; null if there is none. */
function breachOf(end: RunEnd, kind: SandboxJob['handler']['kind']): string | null {
  if (end.status !== 'succeeded') return null;
  if (end.progress && kind !== 'schedule') return 'Only a schedule returns progress.';
  if (end.result !== undefined && !answeringKinds.includes(kind))
    return 'A handler of this type returns no result.';
  return null;
}

function callsOf(options: RunCallsOptions): RunCalls {
  const { pace } = options.job;
  return pace ? createPacedCalls({ ...options, pace }) : createRunCalls(options);
}

interface WatchedRun extends Pick<ActiveRun, 'sidecar'> {
  readonly timers: RunTimers;
  readonly wait: OwnWait;
  stop(ending: SandboxEnding): void;
}

/** Enforces the wall limit on the time in which a run waits only for itself. Total time, with CPU and host waits, has a wider bound. */
function watchWall(wallMs: number, startedAt: number, run: WatchedRun): void {
  let reachedAt = Infinity;
  const look = (): void => {
    const leftMs = wallMs - run.wait.lookMs();
    if (leftMs <= 0) reachedAt = Math.min(reachedAt, performance.now());
    // The end of the run may wait behind another run that blocks the process, which then answers no ping.
    if (run.sidecar.lastActiveAt >= reachedAt)
      return run.stop(
        failed(
          'wall',
          `The run was idle for more than ${wallMs} ms. Wait only for promises that settle sooner.`,
          true,
        ),
      );
    if (performance.now() - startedAt > wallMs * wallBoundTimes)
      return run.stop({ status: 'interrupted', message: 'The server was too busy to finish the run.' });
    run.timers.after(Math.max(leftMs, wallLookMsMin), look);
  };
  run.timers.after(wallMs, look);
}
