// Assigns queued jobs to sidecars, with a fair queue of the partitions and a record of the runs in flight.
import { LRUCache } from 'lru-cache';
import { FairQueue } from '../lib/fairness/fair-queue.ts';
import { FairQuota } from '../lib/fairness/fair-quota.ts';
import type { Violations } from './describe.ts';
import type { Fleet } from './fleet/fleet.ts';
import type { SidecarProcess } from './fleet/process.ts';
import { nonceSource } from './frames.ts';
import type { SandboxJob, SandboxOptions, SandboxOutcome } from './job.ts';
import type { RunNonce, ToSidecar } from './protocol.ts';
import { startRun, type ActiveRun } from './run.ts';

const concurrentRunsDefault = 64;

interface WaitingJob {
  readonly job: SandboxJob;
  readonly queuedAt: number;
  settle(outcome: SandboxOutcome): void;
}

interface DispatchOptions {
  readonly clock: SandboxOptions['clock'];
  readonly split?: SandboxOptions['split'];
  readonly concurrentRunsMax?: number;
  readonly inFlight: InFlight;
  readonly violations: Violations;
  /** A function, because the fleet is created after this object. */
  fleet(): Fleet;
  onStart(): void;
}

interface Dispatch {
  push(waiting: WaitingJob): void;
  /** Starts every job that can start now. */
  pump(): void;
  /** Starts no further jobs, and returns the waiting ones. */
  stop(): WaitingJob[];
}

/**
 * Runs the jobs of quarantined installs one at a time in a separate sidecar: installs killed for their CPU
 * time or memory do not disturb others there, and the next crash identifies the culprit among the suspects.
 */
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
    sidecar.send(orderOf(nonce, queueName, job, violations.mayBlock(job.installId)));
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

function orderOf(
  nonce: RunNonce,
  queueName: string,
  job: SandboxJob,
  mayBlock: boolean,
): Extract<ToSidecar, { t: 'run' }> {
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
    mayBlock,
  };
}

/** Runs in flight in each sidecar, and the installs of runs that ended recently. */
export interface InFlight {
  add(run: ActiveRun): void;
  remove(run: ActiveRun): void;
  find(nonce: RunNonce): ActiveRun | undefined;
  all(): ActiveRun[];
  of(sidecar: SidecarProcess): ActiveRun[];
  /** Number of runs in flight in this sidecar. */
  load(sidecar: SidecarProcess): number;
  /** Install of a run that is in flight or ended recently: a thread may turn out to be stuck after its run was given up. */
  installOf(nonce: RunNonce): string | undefined;
}

export function createInFlight(): InFlight {
  /** Bounded by the slots of the queue. */
  const runs = new Map<RunNonce, ActiveRun>();
  const loads = new WeakMap<SidecarProcess, number>();
  const ended = new LRUCache<RunNonce, string>({ max: 1000 });
  const load = (sidecar: SidecarProcess): number => loads.get(sidecar) ?? 0;
  return {
    add(run) {
      runs.set(run.nonce, run);
      loads.set(run.sidecar, load(run.sidecar) + 1);
    },
    remove(run) {
      if (!runs.delete(run.nonce)) return;
      loads.set(run.sidecar, load(run.sidecar) - 1);
      ended.set(run.nonce, run.job.installId);
    },
    find: (nonce) => runs.get(nonce),
    all: () => [...runs.values()],
    of: (sidecar) => [...runs.values()].filter((run) => run.sidecar === sidecar),
    load,
    installOf: (nonce) => runs.get(nonce)?.job.installId ?? ended.get(nonce),
  };
}

export interface Owner {
  readonly workspaceId: string;
  readonly installId: string;
}

interface PartitionQueue<Item> {
  readonly name: string;
  readonly owner: Owner;
  readonly waiting: Item[];
  busy: boolean;
}

/**
 * Items of one partition run one at a time and in order. Slots rotate between workspaces, then between the
 * installs of a workspace, then between the partitions of an install; quotas leave slots free for the others.
 */
export interface PartitionQueues<Item> {
  push(name: string, owner: Owner, item: Item): void;
  /** Returns the next item that `accept` admits; its partition is busy until `release`. */
  take(accept: (item: Item) => boolean): Item | undefined;
  release(name: string): void;
  /** Removes and returns all waiting items. */
  clear(): Item[];
}

/** @param slots maximum number of items taken and not yet released, across all partitions */
export function createPartitionQueues<Item>(slots: number): PartitionQueues<Item> {
  /** Partitions that are busy or have waiting items. Callers of `push` bound the number of items. */
  const queues = new Map<string, PartitionQueue<Item>>();
  /** Partitions that are free and have waiting items. */
  const fairQueue = new FairQueue<PartitionQueue<Item>>();
  const quota = new FairQuota(slots);

  return {
    push(name, owner, item) {
      const known = queues.get(name);
      const queue = known ?? { name, owner, waiting: [], busy: false };
      if (!known) queues.set(name, queue);
      queue.waiting.push(item);
      if (!queue.busy && queue.waiting.length === 1)
        fairQueue.push(owner.workspaceId, owner.installId, queue);
    },
    take(accept) {
      const queue = fairQueue.take(
        ({ waiting: [head] }, workspaceId, installId) =>
          quota.remaining(workspaceId, installId) > 0 && accept(head!),
        (workspaceId) => quota.hasCapacity(workspaceId),
      );
      if (!queue) return undefined;
      queue.busy = true;
      quota.take(queue.owner.workspaceId, queue.owner.installId);
      return queue.waiting.shift();
    },
    release(name) {
      const queue = queues.get(name);
      if (!queue?.busy) return;
      queue.busy = false;
      quota.give(queue.owner.workspaceId, queue.owner.installId);
      if (queue.waiting.length > 0) fairQueue.push(queue.owner.workspaceId, queue.owner.installId, queue);
      else queues.delete(name);
    },
    clear() {
      fairQueue.clear();
      return [...queues.values()].flatMap(({ waiting }) => waiting.splice(0));
    },
  };
}
