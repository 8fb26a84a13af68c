// Exchanges the messages of one run with its sidecar, and requests its stop.
import type { SidecarProcess } from '../fleet/process.ts';
import type { RunNonce, CallReply } from '../protocol.ts';
import type { Drained } from '../frames.ts';
import type { SandboxJob } from '../job.ts';
import type { SandboxEnding } from './ending.ts';
import { createSpeech } from './speech.ts';
import type { RunTimers } from './time.ts';

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
  readonly job: Pick<SandboxJob, 'limits' | 'tape'>;
  onSent(): void;
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
