// Assigns queued jobs to sidecars. Quarantined installs run one at a time in their own sidecar: those killed for their CPU time or
// memory do not disturb others there, and for suspects of a crash without a clear culprit the next crash has one.
import type { Fleet } from './fleet/fleet.ts';
import type { SidecarProcess } from './fleet/process.ts';
import { nonceSource } from './frames.ts';
import type { InFlight } from './in-flight.ts';
import type { SandboxJob, SandboxOptions, SandboxOutcome } from './job.ts';
import { createLanes } from './lanes.ts';
import type { RunNonce, ToSidecar } from './protocol.ts';
import { startRun } from './run/run.ts';
import type { Strikes } from './strikes.ts';

const concurrentRunsDefault = 64;

interface WaitingJob {
  readonly job: SandboxJob;
  readonly queuedAt: number;
  settle(outcome: SandboxOutcome): void;
}

export interface DispatchOptions extends Pick<SandboxOptions, 'clock' | 'split' | 'concurrentRunsMax'> {
  readonly inFlight: InFlight;
  readonly strikes: Strikes;
  /** A function, because the fleet is created after this object. */
  fleet(): Fleet;
  /** Called when a run starts. */
  onStart(): void;
}

export interface Dispatch {
  push(waiting: WaitingJob): void;
  /** Starts every job that can start now. */
  pump(): void;
  /** Starts no further jobs, and returns the waiting ones. */
  stop(): WaitingJob[];
}

export function createDispatch(options: DispatchOptions): Dispatch {
  const { inFlight, strikes, fleet, split = 'none', concurrentRunsMax = concurrentRunsDefault } = options;
  const lanes = createLanes<WaitingJob & { readonly lane: string }>(concurrentRunsMax);
  const laneOf = createLaneNames();
  const newNonce = nonceSource();
  let stopped = false;

  /** Returns the sidecar in which a job can start now, if there is one. */
  const choose = ({ installId, workspaceId, code }: SandboxJob): SidecarProcess | undefined => {
    const group = { none: '', workspace: workspaceId, install: installId }[split];
    const isQuarantined = strikes.quarantined(installId, code.sha256);
    const sidecar = fleet().find(isQuarantined ? 'quarantine' : 'active', group);
    const most = isQuarantined ? 1 : concurrentRunsMax;
    return sidecar && inFlight.load(sidecar) < most ? sidecar : undefined;
  };

  const begin = ({ job, queuedAt, settle }: WaitingJob, lane: string, sidecar: SidecarProcess): void => {
    const nonce = newNonce();
    const queueMs = performance.now() - queuedAt;
    const cancel = (): void => run.channel.stop({ status: 'interrupted', message: 'The run was canceled.' });
    const ended = (outcome: SandboxOutcome): void => {
      job.signal?.removeEventListener('abort', cancel);
      inFlight.remove(run);
      lanes.release(lane);
      if (inFlight.load(sidecar) === 0) fleet().rest(sidecar);
      if (burned(outcome)) strikes.burned(job.installId, job.code.sha256);
      settle(outcome);
      pump();
    };
    const run = startRun({ nonce, job, lane, sidecar, queueMs, clock: options.clock, settle: ended });
    inFlight.add(run);
    sidecar.give(job.code.sha256, job.code.source, job.installId);
    sidecar.send(orderOf(nonce, lane, job));
    if (job.signal?.aborted === true) cancel();
    else job.signal?.addEventListener('abort', cancel);
    fleet().keep(sidecar);
    options.onStart();
  };

  const pump = (): void => {
    if (stopped) return;
    for (;;) {
      const chosen: { sidecar?: SidecarProcess | undefined } = {};
      const next = lanes.take(({ job }) => (chosen.sidecar = choose(job)) !== undefined);
      if (!next || !chosen.sidecar) return;
      begin(next, next.lane, chosen.sidecar);
    }
  };

  return {
    push(waiting) {
      const lane = laneOf(waiting.job);
      lanes.push(lane, waiting.job, { ...waiting, lane });
      pump();
    },
    pump,
    stop() {
      stopped = true;
      return lanes.clear();
    },
  };
}

/** Returns true if the run was killed for its CPU time or memory. */
function burned(outcome: SandboxOutcome): boolean {
  return (
    outcome.status === 'failed' && outcome.killed && (outcome.reason === 'cpu' || outcome.reason === 'memory')
  );
}

/** Returns a function that names the queue of a job: that of its partition, or a new one for a fresh isolate. */
function createLaneNames(): (job: SandboxJob) => string {
  let nextFresh = 1;
  return ({ installId, partition, fresh }) => {
    const own = `${installId}/${partition}`;
    return fresh ? `${own}/fresh/${nextFresh++}` : own;
  };
}

function orderOf(nonce: RunNonce, lane: string, job: SandboxJob): Extract<ToSidecar, { t: 'run' }> {
  const { sha256, handlers } = job.code;
  return {
    t: 'run',
    run: nonce,
    isolate: lane,
    sha256,
    handlers: handlers ? [...handlers].sort() : null,
    handler: `${job.handler.kind}:${job.handler.name}`,
    input: job.input,
    limits: job.limits,
    fresh: job.fresh === true,
  };
}
