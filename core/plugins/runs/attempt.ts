// One attempt of a run: what the sandbox is told, the calls it makes and what they stage.
import { Staging, stagedCharsMax } from '../../changes/staging.ts';
import type { Cause } from '../../events/origin.ts';
import { renderEvent, type EventRow } from '../../events/event.ts';
import type { WorkItem, WorkQueue } from '../../events/work.ts';
import type { App } from '../../http/app.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { FreshEvents } from '../../events/fresh.ts';
import type { Clock } from '../../lib/clock.ts';
import { Shares } from '../../lib/fairness/shares.ts';
import { plainText } from '../../lib/printable.ts';
import type { CallAnswer, RunUsage, SandboxOutcome } from '../../sandbox/supervisor.ts';
import type { Store } from '../../store/store.ts';
import { callHost } from '../bridge.ts';
import { hostDoorOf, principalOf, type BridgeCall, type HostDoor } from '../host-door.ts';
import type { CallTurns } from '../call-turns.ts';
import { traitsOf } from '../handler-kinds.ts';
import { cutDescriptions } from '../guest-shape.ts';
import type { Install } from '../installs/schema.ts';
import { rightsOfInstall } from '../installs/hearing.ts';
import { effectiveSettings } from '../installs/settings.ts';
import { ownValues } from '../kv/own.ts';
import { limitsOf } from '../limits.ts';
import { ownOneOffs } from '../once/own.ts';
import { stepName } from '../once/worker.ts';
import { stepOf } from '../loops.ts';
import { readSetOf } from './isolation.ts';
import type { Outsides } from '../outside/fetch.ts';
import type { Recorder, TapedJob } from '../recorder/recorder.ts';
import type { Registry } from '../registry.ts';
import type { SandboxOnDemand } from '../sandbox-on-demand.ts';
import type { SecretsForGuest } from '../secrets/placeholders.ts';
import { firedAtOf } from './continuation.ts';
import { rightsFor, type RunCaller, type RunInput } from './input.ts';
import type { RunRow } from './rows.ts';

const partitionsDefault = 1;

interface CallRecord {
  readonly op: string;
  readonly ok: boolean;
  readonly code: string | null;
  readonly ms: number;
}

/** A run that its worker holds, and what it was queued for. */
export interface HeldRun {
  readonly item: WorkItem;
  readonly queue: WorkQueue;
  readonly run: RunRow;
  /** Of a run for an event. */
  readonly event: EventRow | undefined;
  /** Aborted when somebody cancels the run. */
  readonly signal: AbortSignal;
}

/** What an attempt needs of it: no lease, so that a run can also be tried without ending it. */
export interface TriedRun extends Pick<HeldRun, 'run' | 'event' | 'signal'> {
  readonly item: Pick<WorkItem, 'scope'>;
  /** What it was given, where no event caused it. */
  readonly input?: RunInput | null;
}

export interface Attempt {
  /** As it was when the attempt began. */
  readonly install: Install;
  readonly outcome: SandboxOutcome;
  readonly staged: Staging;
  readonly calls: readonly CallRecord[];
  readonly cause: Cause;
  readonly startedAt: number;
  /** As the sandbox was given it, for its recording. */
  readonly job: TapedJob;
}

export interface AttemptOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly app: () => App;
  readonly registry: Registry;
  readonly sandbox: SandboxOnDemand;
  readonly ledger: Ledger;
  readonly callTurns: CallTurns;
  readonly recorder: Recorder;
  readonly fresh: Pick<FreshEvents, 'newest'>;
  readonly outside: Outsides;
}

export interface Attempts {
  make(held: TriedRun, install: Install): Promise<Attempt>;
  /** Once the run has ended, or waits: what its last attempt staged takes no room any more. */
  forget(runId: string): void;
}

export function createAttempts(options: AttemptOptions): Attempts {
  const { clock } = options;
  /** Known once the door is. */
  let door: HostDoor | undefined;
  const stagedRoom = new Shares(stagedCharsMax);
  /** Of runs under way, which the room of their work queue bounds. */
  const stagings = new Map<string, Staging>();

  const forget = (runId: string): void => {
    stagings.get(runId)?.release();
    stagings.delete(runId);
    options.recorder.forget(runId);
  };

  const stage = (held: TriedRun, install: Install): Staging => {
    forget(held.run.id);
    const staged = stagingOf(options, stagedRoom, held, install);
    stagings.set(held.run.id, staged);
    return staged;
  };

  /** Answers the host calls of an attempt, and notes them in `calls`. */
  const answering = (
    held: TriedRun,
    install: Install,
    staged: Staging,
    { cause, startedAt }: Pick<Attempt, 'cause' | 'startedAt'>,
    calls: CallRecord[],
  ) => {
    const { run } = held;
    const { scope } = held.item;
    const inTurn = options.callTurns.ofRun(scope, install.id, run.handler_kind);
    const { calls: callsMax } = limitsOf(install.manifest, handlerOf(run));
    const bridge = bridgeOf(
      options,
      { held, install, staged, cause, startedAt },
      (door ??= hostDoorOf(options.app())),
    );
    return async (op: string, args: string): Promise<CallAnswer> => {
      const from = performance.now();
      const answer = await inTurn(op, args, () => callHost(bridge, op, args));
      if (calls.length < callsMax) calls.push(callRecord(op, answer, performance.now() - from));
      return answer;
    };
  };

  return {
    forget,
    async make(held, install) {
      const { scope } = held.item;
      const staged = stage(held, install);
      const startedAt = clock.nowMs();
      const cause = causeOf(held, install);
      const calls: CallRecord[] = [];
      const call = answering(held, install, staged, { cause, startedAt }, calls);
      const sandbox = await options.sandbox.get();
      const source = await options.registry.source(scope, install.sha256);
      const job = options.recorder.taped(jobOf(held, install, { ...options, source, startedAt }));
      const outcome = await sandbox.run({ ...job, call });
      options.ledger.chargeAll(scope, costOf(outcome));
      return { install, outcome, staged, calls, cause, startedAt, job };
    },
  };
}

function stagingOf(
  options: AttemptOptions,
  room: Shares,
  { item, event }: TriedRun,
  install: Install,
): Staging {
  const reads = readSetOf(options, item.scope, install, event);
  return new Staging(room, item.scope.workspaceId, install.id, { reads });
}

interface Bridging extends Pick<Attempt, 'install' | 'staged' | 'cause' | 'startedAt'> {
  readonly held: TriedRun;
}

/** What the calls of an attempt are answered with. */
function bridgeOf(
  { store, clock, outside }: AttemptOptions,
  { held, install, staged, cause, startedAt }: Bridging,
  door: HostDoor,
): BridgeCall {
  const { item, run, event, input } = held;
  const { scope } = item;
  const plugin = principalOf(scope, install);
  const own = { store, nowMs: clock.nowMs, scope, staged };
  return {
    door,
    principal: { ...plugin, ...rightsFor(plugin, input?.caller) },
    installId: install.id,
    staged,
    values: ownValues({ ...own, installId: install.id }),
    oneOffs: ownOneOffs({ ...own, install, cause, caller: input?.caller, startedAt }),
    outside: outside.of({ scope, install, run, sends: install.mode !== 'simulate' }),
    cause,
    traceparent: event?.traceparent ?? null,
  };
}

interface JobParts {
  readonly source: string;
  readonly startedAt: number;
  readonly outside: Pick<Outsides, 'secretsFor'>;
}

function jobOf(held: TriedRun, install: Install, { source, startedAt, outside }: JobParts) {
  const { item, run, signal } = held;
  const handler = handlerOf(run);
  const limits = limitsOf(install.manifest, handler);
  const partitions = install.manifest.partitions ?? partitionsDefault;
  return {
    runId: run.id,
    workspaceId: item.scope.workspaceId,
    installId: install.id,
    partition: partitions === 1 ? 0 : Number(Bun.hash(run.order_key) % BigInt(partitions)),
    code: { sha256: install.sha256, source, handlers: [...install.manifest.handlers] },
    handler,
    input: inputTextOf(held, install, {
      startedAt,
      deadline: startedAt + limits.wallMs,
      secrets: outside.secretsFor(item.scope, install),
    }),
    limits,
    fresh: traitsOf[handler.kind].isFresh,
    signal,
  };
}

interface GivenInput {
  readonly startedAt: number;
  readonly deadline: number;
  readonly secrets: SecretsForGuest | undefined;
}

/** What the handler is given, as JSON. */
function inputTextOf(
  { run, event, input }: TriedRun,
  install: Install,
  { startedAt, deadline, secrets }: GivenInput,
): string {
  return JSON.stringify({
    event: event
      ? cutDescriptions(renderEvent(event))
      : (input?.event ?? { schedule: run.handler, scheduledAt: new Date(firedAtOf(run)).toISOString() }),
    run: {
      id: run.id,
      attempt: run.attempt + 1,
      mode: install.mode,
      depth: run.depth,
      rootEventId: run.root_event_id,
      deadline,
    },
    settings: effectiveSettings(install),
    nowMs: startedAt,
    seed: run.id,
    scopes: scopesOf(install, input?.caller),
    secrets,
  });
}

/** Those that the run has, as `ctx.has` says: of what was granted, what its caller may do as well. */
function scopesOf(install: Install, caller: RunCaller | undefined): readonly string[] {
  if (!caller) return install.grant;
  const { scopes, narrowed } = rightsFor(rightsOfInstall(install), caller);
  return [...scopes, ...(narrowed?.keys() ?? [])];
}

function handlerOf(run: RunRow) {
  return { kind: run.handler_kind, name: run.handler };
}

function causeOf({ run, event, input }: TriedRun, install: Install): Cause {
  const { actor } = input?.caller ?? {};
  return {
    rootEventId: run.root_event_id,
    parentRunId: run.id,
    depth: run.depth + 1,
    path: event ? [...event.cause.path, stepOf(install.id, event)] : pathOf(run, install, input),
    ...(actor ? { onBehalfOf: actor } : {}),
  };
}

/** Of a run that no event caused. */
function pathOf(run: RunRow, { id }: Install, input: RunInput | null | undefined): readonly string[] {
  if (!input?.cause) return [id];
  return [...input.cause.path, stepOf(id, { subjectId: null, entityId: stepName(run.handler) })];
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
