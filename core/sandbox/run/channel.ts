// What the core and the sidecar say to each other about one run, and the request to stop it.
import type { SidecarProcess } from '../fleet/process.ts';
import type { RunNonce, Told } from '../protocol.ts';
import type { Drained } from '../frames.ts';
import type { SandboxJob } from '../job.ts';
import type { Ending } from './ending.ts';
import { createSpeech } from './speech.ts';
import type { RunTimers } from './time.ts';

/** A stop is obeyed at once; this is for its way there and back. */
const stopMs = 1500;
const stopLooksMax = 10;

export interface RunChannel {
  /** Guest code may be running now: the sidecar has not yet accounted for all it was sent. */
  readonly active: boolean;
  /** How the run ends once the sidecar has thrown its isolate away, if that was asked for. */
  readonly stopping: Ending | undefined;
  send(message: Told): void;
  /** @throws ProtocolBreach */
  hear(frame: Drained): void;
  /** Asks the sidecar to throw the isolate away; the run ends as `ending` when it has. */
  stop(ending: Ending): void;
  isClosed(): boolean;
  /** Nothing more is sent. */
  close(): void;
}

export interface RunChannelOptions {
  readonly nonce: RunNonce;
  readonly sidecar: SidecarProcess;
  readonly timers: RunTimers;
  readonly job: Pick<SandboxJob, 'limits' | 'tape'>;
  onSent(): void;
}

/** Of a run whose order has been sent. */
export function createRunChannel(options: RunChannelOptions): RunChannel {
  const { nonce, sidecar, timers } = options;
  const { limits, tape } = options.job;
  tape?.begin();
  const speech = createSpeech(limits);
  let sent = 1;
  let closed = false;
  let stopping: Ending | undefined;
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
      tape?.told(message);
      options.onSent();
    },
    hear(frame) {
      speech.hear(frame, sent);
      tape?.heard(frame.acked, frame.calls);
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
