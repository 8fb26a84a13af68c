// One attempt of a run: what the sandbox is told, the calls it makes and what they stage.
import type { Change } from '../../changes/change.ts';
import { sameValue } from '../../changes/change.ts';
import { Staging, stagedCharsMax } from '../../changes/staging.ts';
import type { Cause } from '../../events/origin.ts';
import { renderEvent, type EventRow } from '../../events/event.ts';
import type { WorkItem } from '../../events/work.ts';
import type { App } from '../../http/app.ts';
import type { InProcessCalls } from '../../http/principal.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Clock } from '../../lib/clock.ts';
import { Shares } from '../../lib/fairness/shares.ts';
import { plainText } from '../../lib/printable.ts';
import type { RunUsage, SandboxOutcome } from '../../sandbox/supervisor.ts';
import type { Store } from '../../store/store.ts';
import { callHost } from '../bridge.ts';
import type { CallTurns } from '../call-turns.ts';
import { cutDescriptions } from '../guest-shape.ts';
import { rightsOfInstall } from '../installs/hearing.ts';
import type { Install } from '../installs/schema.ts';
import { ownValues } from '../kv/own.ts';
import { limitsOf } from '../limits.ts';
import { stepOf } from '../planner.ts';
import type { Registry } from '../registry.ts';
import type { SandboxOnDemand } from '../sandbox-on-demand.ts';
import { firedAtOf } from './continuation.ts';
import type { RunRow } from './rows.ts';

const partitionsDefault = 1;

interface CallRecord {
  readonly op: string;
  readonly ok: boolean;
  readonly code: string | null;
  readonly ms: number;
}

export interface Attempt {
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
  readonly inProcess: InProcessCalls;
  readonly registry: Registry;
  readonly sandbox: SandboxOnDemand;
  readonly ledger: Ledger;
  readonly callTurns: CallTurns;
}

export interface Attempts {
  make(item: WorkItem, run: RunRow, install: Install, event: EventRow | undefined): Promise<Attempt>;
  /** The run has ended, or waits: what its last attempt staged takes no room any more. */
  forget(runId: string): void;
}

export function createAttempts(options: AttemptOptions): Attempts {
  const { store, clock, registry } = options;
  const stagedRoom = new Shares(stagedCharsMax);
  const stagings = new Map<string, Staging>();

  const make: Attempts['make'] = async (item, run, install, event) => {
    stagings.get(run.id)?.release();
    const staged = new Staging(stagedRoom, item.scope.workspaceId, install.id);
    stagings.set(run.id, staged);
    const callOfRun = options.callTurns.ofRun(item.scope, install.id, run.handler_kind);
    const calls: CallRecord[] = [];
    const startedAt = clock.nowMs();
    const cause: Cause = {
      rootEventId: run.root_event_id,
      parentRunId: run.id,
      depth: run.depth + 1,
      path: event ? [...event.cause.path, stepOf(install.id, event)] : [install.id],
    };
    const handler = { kind: run.handler_kind, name: run.handler };
    const limits = limitsOf(install.manifest, handler);
    const partitions = install.manifest.partitions ?? partitionsDefault;
    const bridge = {
      app: options.app(),
      inProcess: options.inProcess,
      install,
      rights: rightsOfInstall(install),
      scope: item.scope,
      staged,
      values: ownValues({ store, nowMs: clock.nowMs, scope: item.scope, installId: install.id, staged }),
      cause,
      traceparent: event?.traceparent ?? null,
    };
    const sandbox = await options.sandbox.get();
    const outcome = await sandbox.run({
      runId: run.id,
      workspaceId: item.scope.workspaceId,
      installId: install.id,
      partition: partitions === 1 ? 0 : Number(Bun.hash(run.order_key) % BigInt(partitions)),
      code: {
        sha256: install.sha256,
        source: await registry.source(item.scope, install.sha256),
        handlers: [...install.manifest.handlers],
      },
      handler,
      input: JSON.stringify({
        event: event
          ? cutDescriptions(renderEvent(event))
          : { schedule: run.handler, scheduledAt: new Date(firedAtOf(run)).toISOString() },
        run: {
          id: run.id,
          attempt: run.attempt + 1,
          mode: install.mode,
          depth: run.depth,
          rootEventId: run.root_event_id,
          deadline: startedAt + limits.wallMs,
        },
        settings: install.settings,
        nowMs: startedAt,
        seed: run.id,
        scopes: install.grant,
      }),
      limits,
      fresh: handler.kind === 'schedule',
      call: async (op, args) => {
        const from = performance.now();
        const answer = await callOfRun(op, args, () => callHost(bridge, op, args));
        if (calls.length < limits.calls)
          calls.push({
            op: plainText(op),
            ok: answer.ok,
            code: answer.ok ? null : answer.error.code,
            ms: Math.round((performance.now() - from) * 100) / 100,
          });
        return answer;
      },
    });
    const { cpuMs: sandboxMs, queueMs } = outcome;
    options.ledger.chargeAll(item.scope, { runs: 1, sandboxMs, queueMs });
    return { outcome, staged, calls, cause, startedAt };
  };

  return {
    make,
    forget(runId) {
      stagings.get(runId)?.release();
      stagings.delete(runId);
    },
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

/** What a run did to one entity, without the values, which are in the events. */
export function effectOf({ kind, id, before, after }: Change) {
  const old = before as Readonly<Record<string, unknown>> | null;
  const fields = Object.entries(after)
    .filter(
      ([name, value]) =>
        old !== null && !['version', 'updatedAt'].includes(name) && !sameValue(old[name], value),
    )
    .map(([name]) => name);
  return { kind, id, action: old === null ? 'create' : 'update', fields };
}
