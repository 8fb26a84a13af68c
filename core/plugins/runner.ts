// Performs runs: the handler's writes are staged while it runs and commit together with the run's record and its work row,
// in one batch. A crash before leaves a claimable run and nothing else; a crash after finds it done.
import { sameValue, type Change } from '../changes/change.ts';
import type { Author, Committer } from '../changes/commit.ts';
import { Staging, stagedCharsMax } from '../changes/staging.ts';
import type { Cause, Directory } from '../context.ts';
import { renderEvent, type EventRow } from '../events/event.ts';
import { findEvent } from '../events/log.ts';
import type { WorkItem, WorkQueue } from '../events/work.ts';
import type { App } from '../http/app.ts';
import type { InProcessCalls } from '../http/principal.ts';
import { PLUGIN_RUN_BACKOFF, backoffDelayMs } from '../lib/backoff.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Clock } from '../lib/clock.ts';
import { Shares } from '../lib/fairness/shares.ts';
import type { Log } from '../lib/log.ts';
import type { RunUsage, SandboxOutcome } from '../sandbox/supervisor.ts';
import { backgroundPatienceMs, type Op, type Scope, type Store } from '../store/store.ts';
import { callHost } from './bridge.ts';
import type { DisableReason, FailureWatch } from './failures.ts';
import { cutDescriptions } from './guest-shape.ts';
import type { HostCalls } from './host-calls.ts';
import type { Install } from './installs/schema.ts';
import { ownValues } from './kv/own.ts';
import { limitsOf, runsPerMinuteMax } from './limits.ts';
import { stepOf } from './planner.ts';
import type { Registry } from './registry.ts';
import { createRunRate } from './run-rate.ts';
import type { SandboxOnDemand } from './sandbox-on-demand.ts';
import { createPlannedRuns } from './runs/planned.ts';
import { findRun, recordRunOp, releaseNextOp, type RunRecord, type RunRow } from './runs/rows.ts';

/** A run is repeated at once this often when what it read changed under it, or when it was interrupted by another's fault. */
const repeatsMax = 5;
const partitionsDefault = 1;

export interface RunnerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly committer: Committer;
  readonly app: () => App;
  readonly inProcess: InProcessCalls;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly registry: Registry;
  readonly sandbox: SandboxOnDemand;
  readonly ledger: Ledger;
  readonly hostCalls: HostCalls;
  /** The process ends. */
  readonly isStopping: () => boolean;
  readonly failures: FailureWatch;
  readonly disable: (scope: Scope, install: Install, why: DisableReason) => Promise<void>;
}

export interface Runner {
  perform(item: WorkItem, queue: WorkQueue): Promise<void>;
  /** Keeps a run and its event for the first attempt. */
  remember(run: RunRow, event: EventRow): void;
  isActive(runId: string): boolean;
}

interface CallRecord {
  readonly op: string;
  readonly ok: boolean;
  readonly code: string | null;
  readonly ms: number;
}

interface Attempt {
  readonly outcome: SandboxOutcome;
  readonly staged: Staging;
  readonly calls: readonly CallRecord[];
  readonly cause: Cause;
  readonly startedAt: number;
}

export function createRunner(options: RunnerOptions): Runner {
  const { store, clock, committer, registry } = options;
  /** Of runs under way. */
  const events = new Map<string, EventRow>();
  const plannedRuns = createPlannedRuns();
  const active = new Set<string>();
  const stagedRoom = new Shares(stagedCharsMax);
  const stagings = new Map<string, Staging>();
  const rate = createRunRate(runsPerMinuteMax, clock.nowMs);

  const attempt = async (
    item: WorkItem,
    run: RunRow,
    install: Install,
    event: EventRow | undefined,
  ): Promise<Attempt> => {
    stagings.get(run.id)?.release();
    const staged = new Staging(stagedRoom, item.scope.workspaceId, install.id);
    stagings.set(run.id, staged);
    const callOfRun = options.hostCalls.ofRun(item.scope, install.id, run.handler_kind);
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
          : { schedule: run.handler, scheduledAt: new Date(run.created_at).toISOString() },
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
      call: async (op, args) => {
        const from = performance.now();
        const answer = await callOfRun(args, () => callHost(bridge, op, args));
        if (calls.length < limits.calls)
          calls.push({
            op,
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

  /** Ends an attempt in one batch. False when what it read has changed: run it again. */
  const end = async (
    item: WorkItem,
    queue: WorkQueue,
    run: RunRow,
    install: Install | null,
    how: Pick<RunRecord, 'status' | 'attempt' | 'error'> & { changes: readonly Change[]; againAtMs?: number },
    tried: Attempt | null,
  ): Promise<boolean> => {
    const now = clock.nowMs();
    const done = how.againAtMs === undefined;
    const record = (made: readonly { id: string; type: string }[]): RunRecord => ({
      ...usageOf(tried?.outcome),
      status: how.status,
      attempt: how.attempt,
      error: how.error,
      startedAt: tried?.startedAt ?? now,
      finishedAt: done ? now : null,
      events: made.map(({ id, type }) => ({ id, type })),
      calls: tried?.calls ?? [],
      effects: (tried?.staged.changes ?? []).map(effectOf),
    });
    const author: Author = {
      scope: item.scope,
      actor: { kind: 'plugin', id: run.install_id, name: install?.manifest.name ?? install?.pluginId ?? '' },
      cause: tried?.cause ?? null,
      requestId: null,
      traceparent: events.get(run.id)?.traceparent ?? null,
      directory: await options.directoryOf(item.scope),
    };
    const guard = how.againAtMs === undefined ? queue.finish(item) : queue.defer(item, how.againAtMs);
    const last = (made: readonly { id: string; type: string }[]): Op[] => [
      recordRunOp(item.scope, run.id, record(made)),
      ...(done ? [releaseNextOp(queue, item, run, now)] : []),
    ];
    const patience = { patienceMs: backgroundPatienceMs };
    const committed = await committer.commit(author, how.changes, [guard], last, patience);
    if (committed.ok) {
      if (done) {
        queue.adopt(item.scope, committed.lastRows[1] ?? []);
      }
      return true;
    }
    if (committed.part === 'change') return false;
    options.log('warn', 'a run was ended elsewhere', {
      runId: run.id,
      part: committed.part,
      reason: committed.message,
    });
    return true;
  };

  const perform = async (item: WorkItem, queue: WorkQueue): Promise<void> => {
    const planned = plannedRuns.take(item.id);
    const run = planned?.run ?? (await findRun(store, item.scope, item.id));
    if (!run) return void (await store.commit([queue.finish(item)]));
    const dead = (code: string, message: string) =>
      end(
        item,
        queue,
        run,
        null,
        { status: 'dead', attempt: run.attempt, error: { code, message }, changes: [] },
        null,
      );
    const event =
      run.event_id === null
        ? undefined
        : (planned?.event ?? (await findEvent(store, item.scope, run.event_id)));
    if (event) events.set(run.id, event);

    const startAtMs = rate.take(run.install_id);
    if (startAtMs !== null) {
      await store.commit([queue.defer(item, startAtMs)]);
      return queue.wake();
    }
    for (let repeat = 0; ; repeat++) {
      const install = await registry.active(item.scope, run.install_id);
      if (!install)
        return void (await dead(
          'plugin_inactive',
          'The plugin was removed, paused or disabled before this run.',
        ));
      const tried = await attempt(item, run, install, event);
      const { outcome } = tried;
      const nowInstalled = await registry.active(item.scope, run.install_id);
      if (nowInstalled?.sha256 !== install.sha256 || nowInstalled.grant.join() !== install.grant.join()) {
        // Upgraded, narrowed, paused or removed while it ran: what it did was not done with the rights it has now.
        if (repeat < repeatsMax) continue;
      }
      if (outcome.status === 'interrupted') {
        // Its lease ends with this process; the next one runs it.
        if (options.isStopping()) return;
        if (repeat < repeatsMax) continue;
        await retry(
          item,
          queue,
          run,
          install,
          tried,
          { code: 'interrupted', message: outcome.message },
          run.attempt,
        );
        return;
      }
      if (outcome.status === 'succeeded') {
        const changes = install.mode === 'apply' ? tried.staged.changes : [];
        const how = { status: 'succeeded' as const, attempt: run.attempt + 1, error: null, changes };
        if (await end(item, queue, run, install, how, tried))
          return noteEnding(item.scope, install, { failed: false, killed: false });
        if (repeat < repeatsMax) continue;
        await retry(
          item,
          queue,
          run,
          install,
          tried,
          { code: 'conflict', message: 'Others kept changing what this run wrote.' },
          run.attempt + 1,
        );
        return;
      }
      await fail(item, queue, run, install, tried, outcome);
      return;
    }
  };

  const fail = async (
    item: WorkItem,
    queue: WorkQueue,
    run: RunRow,
    install: Install,
    tried: Attempt,
    outcome: Extract<SandboxOutcome, { status: 'failed' }>,
  ): Promise<void> => {
    const attempts = run.attempt + 1;
    const error = { code: outcome.reason, message: outcome.message };
    // Killed runs get one more try on a fresh isolate; dropped ones asked for none.
    const hopeless = outcome.reason === 'drop' || (outcome.killed && attempts >= 2);
    if (hopeless)
      await end(item, queue, run, install, { status: 'dead', attempt: attempts, error, changes: [] }, tried);
    else await retry(item, queue, run, install, tried, error, attempts, outcome.retryAfterMs);
    if (outcome.reason !== 'drop' && outcome.reason !== 'retry_later')
      await noteEnding(item.scope, install, { failed: true, killed: outcome.killed });
  };

  const retry = async (
    item: WorkItem,
    queue: WorkQueue,
    run: RunRow,
    install: Install,
    tried: Attempt,
    error: { code: string; message: string },
    attempts: number,
    afterMs?: number,
  ): Promise<void> => {
    const delayMs = backoffDelayMs(PLUGIN_RUN_BACKOFF, Math.max(1, attempts), options.random);
    if (delayMs === undefined) {
      await end(item, queue, run, install, { status: 'dead', attempt: attempts, error, changes: [] }, tried);
      return;
    }
    const againAtMs = clock.nowMs() + Math.min(Math.max(afterMs ?? delayMs, 0), 86_400_000);
    await end(
      item,
      queue,
      run,
      install,
      { status: 'retrying', attempt: attempts, error, changes: [], againAtMs },
      tried,
    );
    queue.wake();
  };

  const noteEnding = async (
    scope: Scope,
    install: Install,
    ending: { failed: boolean; killed: boolean },
  ): Promise<void> => {
    const why = options.failures.note(install.id, ending);
    if (why) await options.disable(scope, install, why);
  };

  return {
    async perform(item, queue) {
      active.add(item.id);
      try {
        await perform(item, queue);
      } finally {
        active.delete(item.id);
        events.delete(item.id);
        stagings.get(item.id)?.release();
        stagings.delete(item.id);
      }
    },
    remember: plannedRuns.remember,
    isActive: (runId) => active.has(runId),
  };
}

function usageOf(usage: RunUsage | undefined) {
  return {
    cpuMs: usage?.cpuMs ?? 0,
    memoryBytes: usage?.memoryBytes ?? 0,
    wallMs: usage?.wallMs ?? 0,
    queueMs: usage?.queueMs ?? 0,
    logs: usage?.logs ?? [],
  };
}

/** What a run did to one entity, without the values, which are in the events. */
function effectOf({ kind, id, before, after }: Change) {
  const old = before as Readonly<Record<string, unknown>> | null;
  const fields = Object.entries(after)
    .filter(
      ([name, value]) =>
        old !== null && !['version', 'updatedAt'].includes(name) && !sameValue(old[name], value),
    )
    .map(([name]) => name);
  return { kind, id, action: old === null ? 'create' : 'update', fields };
}
