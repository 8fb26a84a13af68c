// Makes one attempt of a run: performs it in the sandbox, answers its calls and stages its writes.
import { Staging, stagedCharsMax } from '../../../kernel/changes/staging.ts';
import type { Cause, EventRow } from '../../../kernel/events/event.ts';
import type { WorkItem, WorkQueue } from '../../../kernel/events/work/queue.ts';
import { plainText } from '../../../platform/lib/text/printable.ts';
import { scopeOfEvent } from '../../../kernel/rights/rights.ts';
import type { CallAnswer, RunUsage, SandboxOutcome } from '../../../platform/sandbox/supervisor.ts';
import type { Scope } from '../../../platform/store/store.ts';
import { callHost } from '../host-calls/bridge.ts';
import type { World } from '../trial/world.ts';
import { createMeter, type Meter } from '../budgets/budget.ts';
import { hostGatewayOf, principalOf, type BridgeCall, type HostGateway } from '../host-calls/gateway.ts';
import type { AttemptDeps, PluginDeps } from '../deps.ts';
import { effectiveModes, type Modes } from '../installs/mode.ts';
import type { Install } from '../installs/model.ts';
import { ownValues } from '../kv/own.ts';
import { limitsOf } from '../planning/limits.ts';
import { ownOneTimeJobs } from '../schedules/own.ts';
import type { TapedJob } from '../recorder/recorder.ts';
import { rightsFor, type RunCaller, type RunInput, causeOf, handlerOf, jobOf } from './job.ts';
import type { RunRow } from './rows.ts';
import { subjectOf } from './subject.ts';
import { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import { directoryAsReadStatement, ReadSet } from '../../../kernel/changes/reads.ts';
import { contracts } from '../../contracts.ts';
import { lastSequence } from '../../../kernel/events/log/log.ts';

interface CallRecord {
  readonly op: string;
  readonly ok: boolean;
  readonly code: string | null;
  readonly ms: number;
}

/** A run with its event. */
interface RunOfEvent {
  readonly run: RunRow;
  /** Undefined if no event triggered the run. */
  readonly event: EventRow | undefined;
  /** Aborted when the run is canceled. */
  readonly signal: AbortSignal;
  /** True if the budget of the install was exhausted at the start, runs in progress included. */
  readonly isSpent?: boolean;
}

/** A run leased by its worker. */
export interface LeasedRun extends RunOfEvent {
  readonly item: WorkItem;
  readonly queue: WorkQueue;
}

/** Part of a run that an attempt needs. It has no lease, so that a trial can use it as well. */
export interface TriedRun extends RunOfEvent {
  readonly item: { readonly scope: Scope };
  /** Input of a run that no event triggered. */
  readonly input?: RunInput | null;
  /** Replaces the present workspace for a trial, which has no effects. */
  readonly world?: World;
}

interface BegunAttempt {
  /** The install at the start of the attempt. */
  readonly install: Install;
  readonly staged: Staging;
  readonly cause: Cause;
  readonly startedAt: number;
  /** Modes that decide if writes are applied, proposed or simulated. */
  readonly modes: Modes;
  /** Usage of the install's budget. */
  readonly meter: Meter;
}

export interface RunAttempt extends BegunAttempt {
  /** Caller or owner that the run acts for, with the rights at its start. */
  readonly caller: RunCaller | undefined;
  readonly outcome: SandboxOutcome;
  readonly calls: readonly CallRecord[];
  /** The job of the sandbox, for the recording. */
  readonly job: TapedJob;
}

export interface Attempts {
  make(leased: TriedRun, install: Install): Promise<RunAttempt>;
  /** Releases the staged writes and the tape of the last attempt; call when the run has ended or waits. */
  forget(runId: string): void;
}

interface ActiveAttempt extends BegunAttempt {
  readonly leased: TriedRun;
  readonly calls: CallRecord[];
}

const directoryAsRead = directoryAsReadStatement(
  contracts.flatMap(({ name, directory }) => (directory ? [name] : [])).sort(),
);

/**
 * Returns the tracked reads of an attempt (docs/spec/plugins.md › Isolation); null for a plugin without
 * isolation. The set starts at the newest log sequence in this process, which is committed, so all reads
 * include it. If the log is already longer, the commit checks more changes than necessary.
 */
function readSetOf(
  { fresh, services: { store } }: PluginDeps,
  scope: Scope,
  { manifest }: Install,
  event: EventRow | undefined,
): ReadSet | null {
  if (manifest.isolation === 'none') return null;
  return new ReadSet({
    directoryAsRead,
    begin: () =>
      Math.max(fresh.newest(scope.workspaceId), event?.sequence ?? 0) || lastSequence(store, scope),
  });
}

/** Staged writes of the runs in progress: one staging per run, for its present attempt. */
interface Stagings {
  begin(leased: TriedRun, install: Install): Staging;
  forget(runId: string): void;
}

function createStagings(deps: PluginDeps): Stagings {
  const quota = new FairQuota(stagedCharsMax);
  /** Bounded by the capacity of the run queue. */
  const stagings = new Map<string, Staging>();
  return {
    begin({ item: { scope }, run, event, world }, install) {
      const seen = world ? { past: world.past } : { reads: readSetOf(deps, scope, install, event) };
      const staged = new Staging(quota, scope.workspaceId, install.id, seen);
      stagings.set(run.id, staged);
      return staged;
    },
    forget(runId) {
      stagings.get(runId)?.release();
      stagings.delete(runId);
    },
  };
}

export function createAttempts(deps: AttemptDeps): Attempts {
  const { clock } = deps;
  /** The gateway is created on first use, because the app is not available before. */
  let gateway: HostGateway | undefined;
  const stagings = createStagings(deps);

  const forget = (runId: string): void => {
    stagings.forget(runId);
    deps.recorder.forget(runId);
  };

  /** Returns the function that answers and records the host calls of an attempt. */
  const answering = (begun: ActiveAttempt) => {
    const { leased, install, calls } = begun;
    const { run, item } = leased;
    const performQueued = deps.callQueue.ofRun(item.scope, install.id, run.handler_kind);
    const { calls: callsMax } = limitsOf(install.manifest, handlerOf(run));
    gateway ??= hostGatewayOf(deps.app());
    const bridge = bridgeOf(deps, begun, leased.world?.gateway(gateway) ?? gateway);
    return async (op: string, args: string): Promise<CallAnswer> => {
      const from = performance.now();
      const answer = await performQueued(op, args, () => callHost(bridge, op, args));
      if (calls.length < callsMax) calls.push(callRecord(op, answer, performance.now() - from));
      return answer;
    };
  };

  return {
    forget,
    async make(leased, install) {
      const { scope } = leased.item;
      forget(leased.run.id);
      const staged = stagings.begin(leased, install);
      const { world } = leased;
      const startedAt = world?.past.atMs ?? clock.nowMs();
      const meter = world ? ofNobody(install) : await deps.usage.meter(scope, install);
      if (leased.event) meter.useScope(scopeOfEvent(leased.event.type));
      const modes = effectiveModes(install, leased.isSpent ?? meter.isSpent);
      const cause = causeOf(leased, install);
      const calls: CallRecord[] = [];
      const begun = { leased, install, staged, cause, startedAt, modes, meter, calls };
      const source = world?.source ?? (await deps.registry.source(scope, install.sha256));
      const secrets = deps.outside.secretsFor(scope, install);
      const subject = await subjectOf(deps, leased, install, begun);
      const plain = jobOf(leased, install, { source, startedAt, secrets, mode: modes.mode, subject });
      const job = world ? plain : deps.recorder.taped(plain);
      const outcome = await (await deps.sandbox.get()).run({ ...job, call: answering(begun) });
      deps.services.ledger.chargeAll(scope, costOf(outcome));
      const { caller } = leased.input ?? {};
      return { install, outcome, staged, calls, cause, startedAt, job, modes, meter, caller };
    },
  };
}

/** Returns the meter of a trial, limited by the host's budget and charged to no install. */
function ofNobody({ budget: { whenSpent } }: Install): Meter {
  return createMeter({ whenSpent }, { cpuMs: 0, runs: 0, calls: 0, egressBytes: 0 });
}

/** Returns the context that answers the calls of an attempt. */
function bridgeOf(
  { clock, outside, registry, services: { store } }: AttemptDeps,
  { leased, install, staged, cause, startedAt, modes, meter }: ActiveAttempt,
  gateway: HostGateway,
): BridgeCall {
  const { item, run, event, input, world } = leased;
  const { scope } = item;
  const plugin = principalOf(scope, install);
  const own = { store, nowMs: clock.nowMs, scope, staged };
  return {
    gateway,
    principal: { ...plugin, ...rightsFor(plugin, input?.caller) },
    installId: install.id,
    staged,
    values: world?.values ?? ownValues({ ...own, installId: install.id }),
    oneTimeJobs: ownOneTimeJobs({
      ...own,
      ...{ install, cause, caller: input?.caller, startedAt },
      findPlugin: (pluginId) => registry.activePlugin(scope, pluginId),
    }),
    outside: outside.of({
      scope,
      install,
      run,
      meter,
      sends: !world && modes.mode !== 'simulate',
      callerScopes: input?.caller?.scopes,
    }),
    cause,
    meter,
    traceparent: event?.traceparent ?? null,
  };
}

function costOf({ cpuMs: sandboxMs, queueMs }: RunUsage) {
  return { runs: 1, sandboxMs, queueMs };
}

function callRecord(op: string, answer: CallAnswer, ms: number): CallRecord {
  return {
    op: plainText(op),
    ok: answer.ok,
    code: answer.ok ? null : answer.error.code,
    ms: Math.round(ms * 100) / 100,
  };
}

export function usageOf(usage: RunUsage | undefined) {
  return {
    cpuMs: usage?.cpuMs ?? 0,
    memoryBytes: usage?.memoryBytes ?? 0,
    wallMs: usage?.wallMs ?? 0,
    queueMs: usage?.queueMs ?? 0,
    logs: usage?.logs ?? [],
  };
}
