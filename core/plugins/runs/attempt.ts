// One attempt of a run: what the sandbox is told, the calls it makes and what they stage.
import { Staging, stagedCharsMax } from '../../changes/staging.ts';
import type { Cause } from '../../events/origin.ts';
import { renderEvent, type EventRow } from '../../events/event.ts';
import type { WorkItem, WorkQueue } from '../../events/work.ts';
import type { App } from '../../http/app.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Clock } from '../../lib/clock.ts';
import { Shares } from '../../lib/fairness/shares.ts';
import { plainText } from '../../lib/printable.ts';
import type { CallAnswer, RunUsage, SandboxOutcome } from '../../sandbox/supervisor.ts';
import type { Store } from '../../store/store.ts';
import { callHost } from '../bridge.ts';
import { hostDoorOf, principalOf, type HostDoor } from '../host-door.ts';
import type { CallTurns } from '../call-turns.ts';
import { cutDescriptions } from '../guest-shape.ts';
import type { Install } from '../installs/schema.ts';
import { effectiveSettings } from '../installs/settings.ts';
import { ownValues } from '../kv/own.ts';
import { limitsOf } from '../limits.ts';
import { stepOf } from '../loops.ts';
import type { Registry } from '../registry.ts';
import type { SandboxOnDemand } from '../sandbox-on-demand.ts';
import type { World } from '../backtests/world.ts';
import { firedAtOf } from './continuation.ts';
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
  /** What it sees in place of the workspace of now. */
  readonly world?: World;
}

export interface Attempt {
  /** As it was when the attempt began. */
  readonly install: Install;
  readonly outcome: SandboxOutcome;
  readonly staged: Staging;
  readonly calls: readonly CallRecord[];
  readonly cause: Cause;
  readonly startedAt: number;
}

export interface AttemptOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly app: () => App;
  readonly registry: Registry;
  readonly sandbox: SandboxOnDemand;
  readonly ledger: Ledger;
  readonly callTurns: CallTurns;
}

export interface Attempts {
  make(held: TriedRun, install: Install): Promise<Attempt>;
  /** Once the run has ended, or waits: what its last attempt staged takes no room any more. */
  forget(runId: string): void;
}

export function createAttempts(options: AttemptOptions): Attempts {
  const { clock, registry } = options;
  /** Known once the door is. */
  let door: HostDoor | undefined;
  const stagedRoom = new Shares(stagedCharsMax);
  /** Of runs under way, which the room of their work queue bounds. */
  const stagings = new Map<string, Staging>();

  const forget = (runId: string): void => {
    stagings.get(runId)?.release();
    stagings.delete(runId);
  };

  const stage = ({ item, run, world }: TriedRun, install: Install): Staging => {
    forget(run.id);
    const staged = new Staging(stagedRoom, item.scope.workspaceId, install.id, stagingIn(world));
    stagings.set(run.id, staged);
    return staged;
  };

  /** Answers the host calls of an attempt, and notes them in `calls`. */
  const answering = (
    held: TriedRun,
    install: Install,
    staged: Staging,
    cause: Cause,
    calls: CallRecord[],
  ) => {
    const { item, run, event, world } = held;
    const { scope } = item;
    const inTurn = options.callTurns.ofRun(scope, install.id, run.handler_kind);
    const { calls: callsMax } = limitsOf(install.manifest, handlerOf(run));
    const bridge = {
      door: doorIn(world, (door ??= hostDoorOf(options.app()))),
      principal: principalOf(scope, install),
      installId: install.id,
      staged,
      values: world?.values ?? ownValues({ ...options, ...clock, scope, installId: install.id, staged }),
      cause,
      traceparent: event?.traceparent ?? null,
    };
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
      const { item, run, event, world } = held;
      const staged = stage(held, install);
      const startedAt = world?.past.atMs ?? clock.nowMs();
      const cause = causeOf(run, install, event);
      const calls: CallRecord[] = [];
      const call = answering(held, install, staged, cause, calls);
      const sandbox = await options.sandbox.get();
      const source = world?.source ?? (await registry.source(item.scope, install.sha256));
      const outcome = await sandbox.run({ ...jobOf(held, install, source, startedAt), call });
      const { cpuMs: sandboxMs, queueMs } = outcome;
      options.ledger.chargeAll(item.scope, { runs: 1, sandboxMs, queueMs });
      return { install, outcome, staged, calls, cause, startedAt };
    },
  };
}

const stagingIn = (world: World | undefined) => ({ past: world?.past ?? null });
const doorIn = (world: World | undefined, door: HostDoor): HostDoor => world?.door(door) ?? door;

function jobOf(held: TriedRun, install: Install, source: string, startedAt: number) {
  const { item, run, event, signal, world } = held;
  const handler = handlerOf(run);
  const limits = limitsOf(install.manifest, handler);
  const partitions = install.manifest.partitions ?? partitionsDefault;
  return {
    runId: run.id,
    workspaceId: item.scope.workspaceId,
    // The isolates of another world are its own.
    installId: world?.lane ?? install.id,
    partition: partitions === 1 ? 0 : Number(Bun.hash(run.order_key) % BigInt(partitions)),
    code: { sha256: install.sha256, source, handlers: [...install.manifest.handlers] },
    handler,
    input: inputOf(run, install, event, { startedAt, deadline: startedAt + limits.wallMs }),
    limits,
    fresh: handler.kind === 'schedule',
    signal,
  };
}

/** What the handler is given, as JSON. */
function inputOf(
  run: RunRow,
  install: Install,
  event: EventRow | undefined,
  { startedAt, deadline }: { readonly startedAt: number; readonly deadline: number },
): string {
  return JSON.stringify({
    event: event
      ? cutDescriptions(renderEvent(event))
      : { schedule: run.handler, scheduledAt: new Date(firedAtOf(run)).toISOString() },
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
    scopes: install.grant,
  });
}

function handlerOf(run: RunRow) {
  return { kind: run.handler_kind, name: run.handler };
}

function causeOf(run: RunRow, install: Install, event: EventRow | undefined): Cause {
  return {
    rootEventId: run.root_event_id,
    parentRunId: run.id,
    depth: run.depth + 1,
    path: event ? [...event.cause.path, stepOf(install.id, event)] : [install.id],
  };
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
