// Performs runs: the handler's writes are staged while it runs and commit together with the run's record and its work row,
// in one batch. A crash before leaves a claimable run and nothing else; a crash after finds it done.
import type { Change } from '../changes/change.ts';
import type { Author, Committer } from '../changes/commit.ts';
import type { Directory } from '../context.ts';
import type { EventRow } from '../events/event.ts';
import { findEvent } from '../events/log.ts';
import type { WorkItem, WorkQueue } from '../events/work.ts';
import { PLUGIN_RUN_BACKOFF, backoffDelayMs } from '../lib/backoff.ts';
import type { Ids } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { plainText } from '../lib/printable.ts';
import { mayReadEvent, scopeOfEvent } from '../rights/rights.ts';
import type { Progress, SandboxOutcome } from '../sandbox/supervisor.ts';
import { backgroundPatienceMs, type Op, type Scope, type Store } from '../store/store.ts';
import type { DisableReason, FailureWatch } from './failures.ts';
import { rightsOfInstall } from './installs/hearing.ts';
import type { Install } from './installs/schema.ts';
import { runsPerMinuteMax } from './limits.ts';
import { createRunRate } from './run-rate.ts';
import { createAttempts, effectOf, usageOf, type Attempt, type AttemptOptions } from './runs/attempt.ts';
import { continueOps, progressOp, standingOf } from './runs/continuation.ts';
import { givenUpCode } from './runs/given-up.ts';
import { createPlannedRuns } from './runs/planned.ts';
import {
  findRun,
  interruptedOp,
  recordRunOp,
  releaseNextOp,
  type RunRecord,
  type RunRow,
} from './runs/rows.ts';

/** A run is repeated at once this often when what it read changed under it, or when it was interrupted by another's fault. */
const repeatsMax = 5;
/** Interrupted more often, it waits a little and is run again: so often, which is days, and counted as no attempt. */
const interruptionsMax = 10_000;
const interruptedDelayMs = { first: 1_000, most: 30_000 };

export interface RunnerOptions extends AttemptOptions {
  readonly store: Store;
  readonly log: Log;
  readonly random: () => number;
  readonly ids: Ids;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
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

type Failed = Extract<SandboxOutcome, { status: 'failed' }>;

export function createRunner(options: RunnerOptions): Runner {
  const { store, clock, committer, registry } = options;
  const attempts = createAttempts(options);
  /** Of runs under way. */
  const events = new Map<string, EventRow>();
  const plannedRuns = createPlannedRuns();
  const active = new Set<string>();
  const rate = createRunRate(runsPerMinuteMax, clock.nowMs);

  /** Ends an attempt in one batch. False when what it read has changed: run it again. */
  const end = async (
    item: WorkItem,
    queue: WorkQueue,
    run: RunRow,
    install: Install | null,
    how: Pick<RunRecord, 'status' | 'attempt' | 'error'> & {
      changes: readonly Change[];
      againAtMs?: number;
      /** Ops that follow the record; the rows that one of them returns are for `queue.adopt`. */
      more?: { readonly ops: readonly Op[]; readonly adopt?: number };
    },
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
      ...(how.more?.ops ?? []),
    ];
    const patience = { patienceMs: backgroundPatienceMs };
    const committed = await committer.commit(author, how.changes, [guard], last, patience);
    if (committed.ok) {
      if (done) {
        queue.adopt(item.scope, committed.lastRows[1] ?? []);
        if (how.more?.adopt !== undefined)
          queue.adopt(item.scope, committed.lastRows[2 + how.more.adopt] ?? []);
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
        return void (await dead(givenUpCode, 'The plugin was removed, paused or disabled before this run.'));
      if (event && !mayReadEvent(rightsOfInstall(install), event))
        return void (await dead(
          'insufficient_scope',
          `The plugin is not granted ${scopeOfEvent(event.type)} for this ${event.type} any more.`,
        ));
      const tried = await attempts.make(item, run, install, event);
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
        return waitForItsTurn(item, queue, run, install, tried, plainText(outcome.message));
      }
      if (outcome.status === 'succeeded') {
        const standing = standingOf(run, outcome.progress);
        if ('stuck' in standing) {
          const error = { code: 'no_progress', message: standing.stuck };
          const how = { status: 'dead' as const, attempt: run.attempt + 1, error, changes: [] };
          await end(item, queue, run, install, how, tried);
          return noteEnding(item.scope, install, { failed: true, killed: false });
        }
        const how = {
          status: 'succeeded' as const,
          attempt: run.attempt + 1,
          error: null,
          changes: install.mode === 'apply' ? tried.staged.changes : [],
          // A run for show leaves nothing that the next could go on from.
          more: moreOf(item, queue, run, outcome.progress, standing.goesOn && install.mode === 'apply'),
        };
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

  const moreOf = (
    item: WorkItem,
    queue: WorkQueue,
    run: RunRow,
    progress: Progress | undefined,
    goesOn: boolean,
  ) => {
    if (!progress) return { ops: [] };
    if (!goesOn) return { ops: [progressOp(item.scope, run.id, progress)] };
    return continueOps({ queue, scope: item.scope, ids: options.ids, run, progress }, clock.nowMs());
  };

  /** Interrupted again and again, by others or for want of the processor: that is no attempt, and nobody's failure. */
  const waitForItsTurn = async (
    item: WorkItem,
    queue: WorkQueue,
    run: RunRow,
    install: Install,
    tried: Attempt,
    message: string,
  ): Promise<void> => {
    const error = { code: 'interrupted', message };
    const { attempt } = run;
    if (run.interruptions >= interruptionsMax) {
      await end(item, queue, run, install, { status: 'dead', attempt, error, changes: [] }, tried);
      return;
    }
    const { first, most } = interruptedDelayMs;
    const againAtMs = clock.nowMs() + Math.min(first * 2 ** Math.min(run.interruptions, 10), most);
    const more = { ops: [interruptedOp(item.scope, run.id)] };
    await end(
      item,
      queue,
      run,
      install,
      { status: 'retrying', attempt, error, changes: [], againAtMs, more },
      tried,
    );
    queue.wake();
  };

  const fail = async (
    item: WorkItem,
    queue: WorkQueue,
    run: RunRow,
    install: Install,
    tried: Attempt,
    outcome: Failed,
  ): Promise<void> => {
    const attempts = run.attempt + 1;
    const error = { code: outcome.reason, message: plainText(outcome.message) };
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
        attempts.forget(item.id);
      }
    },
    remember: plannedRuns.remember,
    isActive: (runId) => active.has(runId),
  };
}
