// Assigns queued jobs to sidecars. Quarantined installs run one at a time in a separate sidecar: installs
// killed for their CPU time or memory do not disturb others there, and the next crash identifies the culprit
// among the suspects.
import type { Fleet } from './fleet/fleet.ts';
import type { SidecarProcess } from './fleet/process.ts';
import { nonceSource } from './frames.ts';
import type { InFlight } from './in-flight.ts';
import type { SandboxJob, SandboxOptions, SandboxOutcome } from './job.ts';
import { createPartitionQueues } from './partition-queues.ts';
import type { RunNonce, ToSidecar } from './protocol.ts';
import { startRun } from './run/run.ts';
import type { Violations } from './violations.ts';

const concurrentRunsDefault = 64;

interface WaitingJob {
  readonly job: SandboxJob;
  readonly queuedAt: number;
  settle(outcome: SandboxOutcome): void;
}

export interface DispatchOptions {
  readonly clock: SandboxOptions['clock'];
  readonly split?: SandboxOptions['split'];
  readonly concurrentRunsMax?: number;
  readonly inFlight: InFlight;
  readonly violations: Violations;
  /** A function, because the fleet is created after this object. */
  fleet(): Fleet;
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
  const { inFlight, violations, fleet, split = 'none', concurrentRunsMax = concurrentRunsDefault } = options;
  const partitionQueues = createPartitionQueues<WaitingJob & { readonly queueName: string }>(
    concurrentRunsMax,
  );
  const queueNameOf = createQueueNames();
  const newNonce = nonceSource();
  let stopped = false;

  /** Returns the sidecar in which a job can start now, if there is one. */
  const choose = ({ installId, workspaceId, code }: SandboxJob): SidecarProcess | undefined => {
    const group = { none: '', workspace: workspaceId, install: installId }[split];
    const isQuarantined = violations.quarantined(installId, code.sha256);
    const sidecar = fleet().find(isQuarantined ? 'quarantine' : 'active', group);
    const most = isQuarantined ? 1 : concurrentRunsMax;
    return sidecar && inFlight.load(sidecar) < most ? sidecar : undefined;
  };

  const begin = ({ job, queuedAt, settle }: WaitingJob, queueName: string, sidecar: SidecarProcess): void => {
    const nonce = newNonce();
    const queueMs = performance.now() - queuedAt;
    const cancel = (): void => run.channel.stop({ status: 'interrupted', message: 'The run was canceled.' });
    const ended = (outcome: SandboxOutcome): void => {
      job.signal?.removeEventListener('abort', cancel);
      inFlight.remove(run);
      partitionQueues.release(queueName);
      if (inFlight.load(sidecar) === 0) fleet().rest(sidecar);
      if (burned(outcome)) violations.burned(job.installId, job.code.sha256);
      settle(outcome);
      pump();
    };
    const run = startRun({ nonce, job, queueName, sidecar, queueMs, clock: options.clock, settle: ended });
    inFlight.add(run);
    sidecar.give(job.code.sha256, job.code.source, job.installId);
    sidecar.send(orderOf(nonce, queueName, job));
    if (job.signal?.aborted === true) cancel();
    else job.signal?.addEventListener('abort', cancel);
    fleet().markUsed(sidecar);
    options.onStart();
  };

  const pump = (): void => {
    if (stopped) return;
    for (;;) {
      const chosen: { sidecar?: SidecarProcess | undefined } = {};
      const next = partitionQueues.take(({ job }) => (chosen.sidecar = choose(job)) !== undefined);
      if (!next || !chosen.sidecar) return;
      begin(next, next.queueName, chosen.sidecar);
    }
  };

  return {
    push(waiting) {
      const queueName = queueNameOf(waiting.job);
      partitionQueues.push(queueName, waiting.job, { ...waiting, queueName });
      pump();
    },
    pump,
    stop() {
      stopped = true;
      return partitionQueues.clear();
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
function createQueueNames(): (job: SandboxJob) => string {
  let nextFresh = 1;
  return ({ installId, partition, fresh }) => {
    const own = `${installId}/${partition}`;
    return fresh ? `${own}/fresh/${nextFresh++}` : own;
  };
}

function orderOf(nonce: RunNonce, queueName: string, job: SandboxJob): Extract<ToSidecar, { t: 'run' }> {
  const { sha256, handlers } = job.code;
  return {
    t: 'run',
    run: nonce,
    isolate: queueName,
    sha256,
    handlers: handlers ? [...handlers].sort() : null,
    handler: `${job.handler.kind}:${job.handler.name}`,
    input: job.input,
    limits: job.limits,
    fresh: job.fresh === true,
  };
}
