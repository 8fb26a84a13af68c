// Exchanges the messages of one run with its sidecar, and requests its stop.
import type { SidecarProcess } from '../fleet/process.ts';
import { type RunNonce, type CallReply, callsPerFrameMax, type RunLimits } from '../protocol.ts';
import { type Drained, ProtocolBreach } from '../frames.ts';
import type { SandboxJob } from '../job.ts';
import type { SandboxEnding } from './ending.ts';
import type { RunTimers } from './time.ts';
import { timersMax } from './calls.ts';

/** Time for a stop request and the end that answers it; a sidecar stops a run at once. */
const stopMs = 1500;
const stopLooksMax = 10;

export interface RunChannel {
  /** True if guest code may be running now: the sidecar has not acknowledged all messages. */
  readonly active: boolean;
  /** Ending of the run after a requested stop; undefined if no stop was requested. */
  readonly stopping: SandboxEnding | undefined;
  send(message: CallReply): void;
  /** @throws ProtocolBreach */
  hear(frame: Drained): void;
  /** Requests that the sidecar dispose of the isolate; the run then ends as `ending`. */
  stop(ending: SandboxEnding): void;
  isClosed(): boolean;
  /** Drops all further messages to the sidecar. */
  close(): void;
}

export interface RunChannelOptions {
  readonly nonce: RunNonce;
  readonly sidecar: SidecarProcess;
  readonly timers: RunTimers;
  readonly job: SandboxJob;
  onSent(): void;
}

// Bounds the frames that a run may send: each must acknowledge a message of the core or count against the limits of the run.

interface Speech {
  /** Number of the core's messages that the run has consumed. */
  readonly acked: number;
  /** @param sent number of messages sent by the core @throws ProtocolBreach */
  hear(frame: Drained, sent: number): void;
}

function createSpeech(limits: RunLimits): Speech {
  let acked = 0;
  /** Received calls, ignored ones and timers included. */
  let calls = 0;
  let lines = 0;
  return {
    get acked() {
      return acked;
    },
    hear(frame, sent) {
      const isEmpty = frame.calls.length === 0 && frame.logs.length === 0;
      calls += frame.calls.length;
      lines += frame.logs.length;
      const ackedMin = acked + (isEmpty ? 1 : 0);
      const tooMuch = calls > limits.calls + timersMax + callsPerFrameMax || lines > limits.logLines;
      if (frame.acked > sent || frame.acked < ackedMin || tooMuch)
        throw new ProtocolBreach('A run sent more than its limits allow.');
      acked = frame.acked;
    },
  };
}

/** Creates the channel of a run whose order was sent. */
export function createRunChannel(options: RunChannelOptions): RunChannel {
  const { nonce, sidecar, timers } = options;
  const { limits, tape } = options.job;
  tape?.begin();
  const speech = createSpeech(limits);
  let sent = 1;
  let closed = false;
  let stopping: SandboxEnding | undefined;
  return {
    get active() {
      return sent > speech.acked;
    },
    get stopping() {
      return stopping;
    },
    send(message) {
      if (closed) return;
      sent++;
      sidecar.send(message);
      tape?.recordReply(message);
      options.onSent();
    },
    hear(frame) {
      speech.hear(frame, sent);
      tape?.recordCalls(frame.acked, frame.calls);
    },
    stop(ending) {
      if (closed || stopping) return;
      stopping = ending;
      sidecar.send({ t: 'stop', run: nonce });
      killUnlessStopped(sidecar, timers);
    },
    isClosed: () => closed,
    close() {
      closed = true;
    },
  };
}

/** Kills a sidecar that sends messages but does not stop a run, because a genuine one would. The watch handles a silent sidecar. */
function killUnlessStopped(sidecar: SidecarProcess, timers: RunTimers): void {
  const stopSentAt = performance.now();
  const look = (looks: number): void =>
    timers.after(stopMs, () => {
      const spoke = sidecar.lastActiveAt - stopSentAt > stopMs / 2;
      if (spoke || looks === stopLooksMax) sidecar.kill('a run was not stopped when requested');
      else look(looks + 1);
    });
  look(1);
}
