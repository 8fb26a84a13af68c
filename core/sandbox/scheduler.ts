// The core's end of the sandbox: takes jobs and gives each to the right sidecar when it is its turn. It owns every clock, limit
// and kill.
import type { SidecarPrograms } from './fleet/bundle.ts';
import type { SidecarProcess } from './fleet/process.ts';
import { nonceSource } from './frames.ts';
import { createInFlight } from './in-flight.ts';
import type { JailMeans } from './jail/prepare.ts';
import type { RunUsage, Sandbox, SandboxJob, SandboxOptions, SandboxOutcome, SandboxStatus } from './job.ts';
import { createLanes } from './lanes.ts';

import { inputMax } from './protocol.ts';
import type { RunNonce, ToSidecar } from './protocol.ts';
import { failed } from './run/ending.ts';
import { startRun } from './run/run.ts';
import { createSidecars, readyOnes, type Sidecars } from './sidecars.ts';
import { createStrikes } from './strikes.ts';

const isolatesDefault = 200;
const isolateIdleMs = 300_000;
const concurrentRunsDefault = 64;
const stoppingMessage = 'The sandbox is stopping.';

export interface SchedulerParts {
  readonly programs: SidecarPrograms;
  readonly addonPath: string;
  readonly means: JailMeans;
}

export interface Scheduler {
  /** Once the first sidecar is ready. Rejects when it does not come up. */
  readonly started: Promise<unknown>;
  readonly sandbox: Sandbox;
}

interface Waiting {
  readonly job: SandboxJob;
  readonly lane: string;
  readonly queuedAt: number;
  settle(outcome: SandboxOutcome): void;
}

export function createScheduler(options: SandboxOptions, parts: SchedulerParts): Scheduler {
  const { clock, log, split = 'none', concurrentRunsMax = concurrentRunsDefault } = options;
  const lanes = createLanes<Waiting>(concurrentRunsMax);
  const strikes = createStrikes(clock);
  const inFlight = createInFlight();
  const newNonce = nonceSource();
  const laneOf = createLaneNames();
  let stopped = false;

  /** The sidecar in which a job can start now. */
  const choose = ({ installId, workspaceId }: SandboxJob): SidecarProcess | undefined => {
    const group = { none: '', workspace: workspaceId, install: installId }[split];
    const isQuarantined = strikes.quarantined(installId);
    const sidecar = fleet.find(isQuarantined ? 'quarantine' : 'active', group);
    // One at a time in quarantine, so that the next death has one author.
    const most = isQuarantined ? 1 : concurrentRunsMax;
    return sidecar && inFlight.load(sidecar) < most ? sidecar : undefined;
  };

  const begin = ({ job, lane, queuedAt, settle }: Waiting, sidecar: SidecarProcess): void => {
    const nonce = newNonce();
    const run = startRun({
      nonce,
      job,
      lane,
      sidecar,
      queueMs: performance.now() - queuedAt,
      clock,
      settle(outcome) {
        inFlight.remove(run);
        lanes.release(lane);
        if (inFlight.load(sidecar) === 0) fleet.rest(sidecar);
        settle(outcome);
        pump();
      },
    });
    inFlight.add(run);
    sidecar.give(job.code.sha256, job.code.source, job.installId);
    sidecar.send(orderOf(nonce, lane, job));
    fleet.keep(sidecar);
    watch.wake();
  };

  /** Starts what can start. */
  const pump = (): void => {
    if (stopped) return;
    for (;;) {
      const next = lanes.take(({ job }) => choose(job) !== undefined);
      const sidecar = next && choose(next.job);
      if (!next || !sidecar) return;
      begin(next, sidecar);
    }
  };

  const sidecars = createSidecars({
    spawn: spawnOptionsOf(options, parts),
    isSplit: split !== 'none',
    log,
    inFlight,
    strikes,
    onPlace: pump,
  });
  const { fleet, watch } = sidecars;

  const sandbox: Sandbox = {
    run: (job) =>
      new Promise((settle) => {
        const refusal = refusalOf(job, stopped);
        if (refusal) return settle({ ...unused(0), ...refusal });
        const lane = laneOf(job);
        lanes.push(lane, job, { job, lane, queuedAt: performance.now(), settle });
        pump();
      }),
    evict(installId) {
      strikes.forget(installId);
      for (const { sidecar } of fleet.members()) sidecar.evict(installId);
    },
    status: () => statusOf(sidecars, split !== 'none', stopped),
    async stop() {
      stopped = true;
      watch.stop();
      const interrupted = { status: 'interrupted', message: stoppingMessage } as const;
      for (const { settle, queuedAt } of lanes.clear()) settle({ ...unused(queuedAt), ...interrupted });
      for (const run of inFlight.all()) run.finish(interrupted);
      await fleet.stop();
    },
  };
  const [first] = fleet.members();
  return { started: first ? first.sidecar.ready : Promise.resolve(), sandbox };
}

/** Names the lane of each job: that of its partition, or one of its own for a fresh isolate. */
function createLaneNames(): (job: SandboxJob) => string {
  let nextFresh = 1;
  return ({ installId, partition, fresh }) => {
    const own = `${installId}/${partition}`;
    return fresh ? `${own}/fresh/${nextFresh++}` : own;
  };
}

function spawnOptionsOf(options: SandboxOptions, { programs, addonPath, means }: SchedulerParts) {
  const { nodePath, isolatesMax = isolatesDefault } = options;
  const jail = process.platform === 'linux' ? options.jail : refuseStrict(options.jail);
  return { nodePath, addonPath, programs, jail, ...means, isolatesMax, idleMs: isolateIdleMs };
}

function refuseStrict(jail: SandboxOptions['jail']): 'off' {
  if (jail === 'strict') throw new Error(`A strict jail needs Linux; this is ${process.platform}.`);
  return 'off';
}

function refusalOf(job: SandboxJob, isStopped: boolean) {
  if (job.input.length > inputMax)
    return failed('error', `The input is larger than ${inputMax} characters.`, false);
  return isStopped ? ({ status: 'interrupted', message: stoppingMessage } as const) : undefined;
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

function statusOf({ fleet, jail }: Sidecars, isSplit: boolean, isStopped: boolean): SandboxStatus {
  const members = readyOnes(fleet);
  const isReady = members.some(({ role }) => role === 'active' || (isSplit && role === 'standby'));
  return {
    state: isReady ? 'ready' : fleet.down || isStopped ? 'down' : 'starting',
    jail: jail ?? 'off',
    sidecars: members.map(({ sidecar, role }) => ({
      pid: sidecar.pid,
      role,
      rssBytes: sidecar.vitals().rssBytes,
      isolates: sidecar.isolates,
    })),
  };
}

function unused(queuedAt: number): RunUsage {
  const queueMs = queuedAt === 0 ? 0 : performance.now() - queuedAt;
  return { cpuMs: 0, memoryBytes: 0, wallMs: 0, queueMs, calls: 0, logs: [] };
}
