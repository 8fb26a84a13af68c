// The core's end of the sandbox: takes jobs, gives each to the right sidecar, and decides what a death means for the
// runs that were in flight. It owns every clock, limit and kill; the sidecars are disposable.
import { existsSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { blame } from './blame.ts';
import { bundlePrograms } from './fleet/bundle.ts';
import type { SidecarPrograms } from './fleet/bundle.ts';
import { Fleet } from './fleet/fleet.ts';
import { hideProcess } from './jail/core-side.ts';
import { noConfinement } from './jail/confinement.ts';
import { prepareJail } from './jail/prepare.ts';
import type { JailMeans } from './jail/prepare.ts';
import { absentOf, levelOf, missingOf } from './jail/level.ts';
import type { JailLevel, JailReport } from './jail/level.ts';
import type { RunUsage, Sandbox, SandboxJob, SandboxOptions, SandboxOutcome, SandboxStatus } from './job.ts';
import { Lanes } from './lanes.ts';
import { findAddon } from './locate.ts';
import { nonceSource, ProtocolBreach } from './frames.ts';
import { jailEntry } from './fleet/process.ts';
import type { SidecarProcess, Spoken } from './fleet/process.ts';
import { inputMax } from './protocol.ts';
import type { RunNonce } from './protocol.ts';
import { ActiveRun } from './run.ts';
import type { Ending } from './run.ts';
import { Strikes } from './strikes.ts';
import { Watch } from './fleet/watch.ts';

export type { Progress, RunLimits } from './protocol.ts';

export type {
  Sandbox,
  SandboxStatus,
  SandboxJob,
  CallAnswer,
  RunUsage,
  SandboxOutcome,
  SandboxOptions,
} from './job.ts';
import { errorForLog } from '../lib/failures.ts';

const isolatesDefault = 200;
const isolateIdleMs = 300_000;
const concurrentRunsDefault = 64;

/** @throws Error when the first sidecar does not come up, or a strict jail cannot be had */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  if (!existsSync(options.nodePath))
    throw new Error(`There is no Node at ${options.nodePath}; plugins need Node 24.`);
  if (process.platform === 'linux' && options.jail !== 'off') hideProcess();
  const programs = options.programs ?? (await bundlePrograms());
  const addonPath = findAddon();
  const means = await prepareJail([options.nodePath, addonPath, jailEntry]);
  const bare = { ...means, confinement: { ...noConfinement, powerless: means.confinement.powerless } };
  const ladder: [without: string, options: SandboxOptions, means: JailMeans][] = [
    ['', options, means],
    [' without namespaces and a user of its own', options, bare],
    [' without a jail', { ...options, jail: 'off' }, bare],
  ];
  for (const [index, [, tried, using]] of ladder.entries()) {
    try {
      return await open(tried, { programs, addonPath, means: using });
    } catch (error) {
      const [without, next] = ladder[index + 1] ?? [];
      if (!next || options.jail === 'off' || (options.jail === 'strict' && next.jail === 'off')) throw error;
      options.log('warn', `No sidecar starts in the jail; trying${without}.`, { error: errorForLog(error) });
    }
  }
  throw new Error('unreachable: the last step returns or throws');
}

interface Parts {
  programs: SidecarPrograms;
  addonPath: string;
  means: JailMeans;
}

async function open(options: SandboxOptions, parts: Parts): Promise<Sandbox> {
  const supervisor = new Supervisor(options, parts);
  try {
    await supervisor.started;
    return supervisor;
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}

interface Waiting {
  job: SandboxJob;
  lane: string;
  queuedAt: number;
  settle(outcome: SandboxOutcome): void;
}

class Supervisor implements Sandbox {
  readonly started: Promise<unknown>;
  #options: SandboxOptions;
  #split: 'none' | 'workspace' | 'install';
  #fleet: Fleet;
  #watch: Watch;
  #strikes: Strikes;
  #lanes: Lanes<Waiting>;
  #runs = new Map<RunNonce, ActiveRun>();
  #load = new Map<SidecarProcess, number>();
  /** Installs of runs that ended lately: a thread may turn out to be stuck after its run was given up. */
  #finished = new LRUCache<RunNonce, string>({ max: 1000 });
  #newNonce = nonceSource();
  #nextFresh = 1;
  /** Level last logged. */
  #jail: JailLevel | undefined;
  #stopped = false;

  constructor(options: SandboxOptions, { programs, addonPath, means }: Parts) {
    this.#options = options;
    this.#lanes = new Lanes(options.concurrentRunsMax ?? concurrentRunsDefault);
    this.#split = options.split ?? 'none';
    this.#strikes = new Strikes(options.clock);
    const { nodePath, isolatesMax = isolatesDefault } = options;
    const jail = process.platform === 'linux' ? options.jail : refuseStrict(options.jail);
    this.#fleet = new Fleet({
      spawn: { nodePath, addonPath, programs, jail, ...means, isolatesMax, idleMs: isolateIdleMs },
      split: this.#split !== 'none',
      load: (sidecar) => this.#load.get(sidecar) ?? 0,
      log: options.log,
      onMessage: (sidecar, message) => this.#onMessage(sidecar, message),
      onGone: (sidecar, why) => {
        const lastWords = this.#fleet.lastWords(sidecar);
        const death = sidecar.outOfMemory ? { why, lastWords, cause: 'memory' as const } : { why, lastWords };
        this.#lose(sidecar, blame(this.#runsOf(sidecar), death));
      },
      onChange: (report) => {
        if (report) this.#noteJail(report);
        this.#pump();
      },
    });
    this.#watch = new Watch({
      sidecars: () =>
        this.#fleet
          .members()
          .filter((member) => member.ready)
          .map((member) => member.sidecar),
      load: (sidecar) => this.#load.get(sidecar) ?? 0,
      condemn: (sidecar, cause, message) =>
        this.#retire(sidecar, message, blame(this.#runsOf(sidecar), { cause, why: message })),
    });
    this.started = (this.#fleet.members()[0] as { sidecar: SidecarProcess }).sidecar.ready;
  }

  run(job: SandboxJob): Promise<SandboxOutcome> {
    return new Promise((settle) => {
      const refusal = refusalOf(job);
      if (refusal) return settle({ ...unused(0), ...refusal });
      if (this.#stopped)
        return settle({ ...unused(0), status: 'interrupted', message: 'The sandbox is stopping.' });
      const own = `${job.installId}/${job.partition}`;
      const lane = job.fresh ? `${own}/fresh/${this.#nextFresh++}` : own;
      this.#lanes.push(lane, job, { job, lane, queuedAt: performance.now(), settle });
      this.#pump();
    });
  }

  evict(installId: string): void {
    this.#strikes.forget(installId);
    for (const { sidecar } of this.#fleet.members()) sidecar.evict(installId);
  }

  status(): SandboxStatus {
    const members = this.#fleet.members().filter((member) => member.ready);
    const ready = members.some(
      ({ role }) => role === 'active' || (this.#split !== 'none' && role === 'standby'),
    );
    return {
      state: ready ? 'ready' : this.#fleet.down || this.#stopped ? 'down' : 'starting',
      jail: this.#jail ?? 'off',
      sidecars: members.map(({ sidecar, role }) => ({
        pid: sidecar.pid,
        role,
        rssBytes: sidecar.vitals().rssBytes,
        isolates: sidecar.isolates,
      })),
    };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#watch.stop();
    const ending: Ending = { status: 'interrupted', message: 'The sandbox is stopping.' };
    for (const waiting of this.#lanes.clear())
      waiting.settle({ ...unused(waiting.queuedAt), status: 'interrupted', message: ending.message });
    for (const run of this.#runs.values()) run.finish(ending);
    await this.#fleet.stop();
  }

  /** Starts what can start. */
  #pump(): void {
    if (this.#stopped) return;
    for (;;) {
      const next = this.#lanes.take(({ job }) => this.#choose(job) !== undefined);
      const sidecar = next && this.#choose(next.job);
      if (!next || !sidecar) return;
      this.#start(next, sidecar);
    }
  }

  /** The sidecar in which a job of this install can start now. */
  #choose({ installId, workspaceId }: SandboxJob): SidecarProcess | undefined {
    const { concurrentRunsMax = concurrentRunsDefault } = this.#options;
    const group = { none: '', workspace: workspaceId, install: installId }[this.#split];
    const quarantined = this.#strikes.quarantined(installId);
    const sidecar = this.#fleet.find(quarantined ? 'quarantine' : 'active', group);
    // One at a time in quarantine, so that the next death has one author.
    const most = quarantined ? 1 : concurrentRunsMax;
    return sidecar && (this.#load.get(sidecar) ?? 0) < most ? sidecar : undefined;
  }

  #start({ job, lane, queuedAt, settle }: Waiting, sidecar: SidecarProcess): void {
    const nonce = this.#newNonce();
    const { sha256, source, handlers } = job.code;
    const queueMs = performance.now() - queuedAt;
    const run = new ActiveRun({
      nonce,
      job,
      lane,
      sidecar,
      queueMs,
      clock: this.#options.clock,
      settle: (outcome) => this.#settle(run, outcome, settle),
    });
    this.#runs.set(nonce, run);
    this.#load.set(sidecar, (this.#load.get(sidecar) ?? 0) + 1);
    sidecar.give(sha256, source, job.installId);
    sidecar.send({
      t: 'run',
      run: nonce,
      isolate: lane,
      sha256,
      handlers: handlers ? [...handlers].sort() : null,
      handler: `${job.handler.kind}:${job.handler.name}`,
      input: job.input,
      limits: job.limits,
      fresh: job.fresh === true,
    });
    this.#fleet.keep(sidecar);
    this.#watch.wake();
  }

  #settle(run: ActiveRun, outcome: SandboxOutcome, settle: (outcome: SandboxOutcome) => void): void {
    this.#runs.delete(run.nonce);
    this.#finished.set(run.nonce, run.job.installId);
    this.#lanes.release(run.lane);
    const left = (this.#load.get(run.sidecar) ?? 1) - 1;
    if (left > 0) this.#load.set(run.sidecar, left);
    else this.#load.delete(run.sidecar);
    if (left === 0) this.#fleet.rest(run.sidecar);
    settle(outcome);
    this.#pump();
  }

  /** @throws ProtocolBreach */
  #onMessage(sidecar: SidecarProcess, message: Spoken): void {
    const run = this.#runs.get(message.run);
    const author = run ? run.job.installId : this.#finished.get(message.run);
    if (author === undefined || (run && run.sidecar !== sidecar) || (!run && message.t !== 'tainted'))
      throw new ProtocolBreach('It spoke for a run that it does not hold.');
    if (message.t === 'tainted') {
      const runs = this.#runsOf(sidecar);
      if (run) run.cpuMs = message.cpuMs;
      else this.#strikes.crashed(author);
      return this.#retire(
        sidecar,
        message.message,
        blame(runs, { cause: message.reason, why: message.message, culprit: run }),
      );
    }
    if (message.t === 'described') throw new ProtocolBreach('It described what it was not asked for.');
    if (!run) return;
    if (message.t === 'drained') return run.drained(message);
    sidecar.isolates = message.isolates;
    this.#strikes.survived(run.job.installId);
    void run.ended(message);
  }

  #runsOf(sidecar: SidecarProcess): ActiveRun[] {
    return [...this.#runs.values()].filter((run) => run.sidecar === sidecar);
  }

  #retire(sidecar: SidecarProcess, why: string, verdict: Map<ActiveRun, Ending>): void {
    this.#options.log('warn', 'A sandbox sidecar is replaced.', { pid: sidecar.pid, why });
    this.#fleet.retire(sidecar, why);
    this.#lose(sidecar, verdict);
  }

  #lose(sidecar: SidecarProcess, verdict: Map<ActiveRun, Ending>): void {
    for (const [run, ending] of verdict) {
      if (ending.status === 'failed') this.#strikes.crashed(run.job.installId);
      else if (run.active) this.#strikes.suspect(run.job.installId);
    }
    for (const [run, ending] of verdict) run.finish(ending);
    this.#load.delete(sidecar);
    this.#pump();
  }

  #noteJail(report: JailReport): void {
    const level = levelOf(report);
    if (level === this.#jail) return;
    this.#jail = level;
    const fields = { ...report, missing: missingOf(report), absent: absentOf(report) };
    this.#options.log(level === 'full' ? 'info' : 'warn', `The sandbox jail is ${level}.`, fields);
  }
}

function refuseStrict(jail: SandboxOptions['jail']): 'off' {
  if (jail === 'strict') throw new Error(`A strict jail needs Linux; this is ${process.platform}.`);
  return 'off';
}

function refusalOf(job: SandboxJob): Extract<Ending, { status: 'failed' }> | undefined {
  if (job.input.length <= inputMax) return undefined;
  return {
    status: 'failed',
    reason: 'error',
    message: `The input is larger than ${inputMax} characters.`,
    killed: false,
  };
}

function unused(queuedAt: number): RunUsage {
  return {
    cpuMs: 0,
    memoryBytes: 0,
    wallMs: 0,
    queueMs: queuedAt === 0 ? 0 : performance.now() - queuedAt,
    calls: 0,
    logs: [],
  };
}
