// Accepts jobs and settles every one of them. Connects the queue, the sidecars and the runs.
import { createDispatch, createInFlight } from './dispatch.ts';
import type { SidecarPrograms } from './fleet/spawn.ts';
import type { JailMeans } from './jail/prepare.ts';
import type { RunUsage, Sandbox, SandboxJob, SandboxOptions, SandboxStatus } from './job.ts';
import { inputMax } from './protocol.ts';
import { failed } from './channel.ts';
import { createSidecars, readyOnes, type Sidecars } from './sidecars.ts';
import { createViolations } from './describe.ts';

const isolatesDefault = 200;
const isolateIdleMs = 300_000;
const inlineAfterDefault = 32;
const stoppingMessage = 'The sandbox is stopping.';

export interface SchedulerParts {
  readonly programs: SidecarPrograms;
  readonly addonPath: string;
  readonly means: JailMeans;
}

export interface Scheduler {
  /** Resolves once the first sidecar is ready. Rejects if it does not start. */
  readonly started: Promise<unknown>;
  readonly sandbox: Sandbox;
}

export function createScheduler(options: SandboxOptions, parts: SchedulerParts): Scheduler {
  const { log, after, split = 'none' } = options;
  const isSplit = split !== 'none';
  const violations = createViolations(options.clock);
  const inFlight = createInFlight();
  const dispatch = createDispatch({
    ...options,
    inFlight,
    violations,
    fleet: () => sidecars.fleet,
    onStart: () => sidecars.watch.wake(),
  });
  const spawn = spawnOptionsOf(options, parts);
  const sidecars = createSidecars({
    spawn,
    isSplit,
    log,
    inFlight,
    violations,
    ...(after ? { after } : {}),
    onCapacity: dispatch.pump,
  });
  const { fleet, watch } = sidecars;
  let stopped = false;

  const sandbox: Sandbox = {
    run: (job) =>
      new Promise((settle) => {
        const refusal = refusalOf(job, stopped);
        if (refusal) settle({ ...unused(0), ...refusal });
        else dispatch.push({ job, queuedAt: performance.now(), settle });
      }),
    evict(installId) {
      violations.forget(installId);
      for (const { sidecar } of fleet.members()) sidecar.evict(installId);
    },
    status: () => statusOf(sidecars, isSplit, stopped),
    async stop() {
      stopped = true;
      watch.stop();
      const interrupted = { status: 'interrupted', message: stoppingMessage } as const;
      for (const { settle, queuedAt } of dispatch.stop()) settle({ ...unused(queuedAt), ...interrupted });
      for (const run of inFlight.all()) run.finish(interrupted);
      await fleet.stop();
    },
  };
  const [first] = fleet.members();
  return { started: first ? first.sidecar.ready : Promise.resolve(), sandbox };
}

function spawnOptionsOf(options: SandboxOptions, { programs, addonPath, means }: SchedulerParts) {
  const { nodePath, isolatesMax = isolatesDefault, inlineAfter = inlineAfterDefault } = options;
  const jail = process.platform === 'linux' ? options.jail : refuseStrict(options.jail);
  return { nodePath, addonPath, programs, jail, ...means, isolatesMax, idleMs: isolateIdleMs, inlineAfter };
}

function refuseStrict(jail: SandboxOptions['jail']): 'off' {
  if (jail === 'strict')
    throw new Error(
      `A strict jail needs Linux, but the platform is ${process.platform}. Use --sandbox-jail auto or off.`,
    );
  return 'off';
}

function refusalOf(job: SandboxJob, isStopped: boolean) {
  if (job.input.length > inputMax)
    return failed(
      'error',
      `The input of the run is longer than ${inputMax} characters. Send less data in one event or call.`,
      false,
    );
  return isStopped ? ({ status: 'interrupted', message: stoppingMessage } as const) : undefined;
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
