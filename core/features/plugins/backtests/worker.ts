// Queues and performs backtests and gates. A server restart begins them again, because intermediate results
// are not stored.
import { isDeepStrictEqual } from 'node:util';
import { findEvent } from '../../../kernel/events/log/log.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import { type BacktestEngine, type BacktestProgress, type BacktestDeps, createEngine } from './engine.ts';
import { fieldEffectsOf } from './fields.ts';
import type { GateReport } from './schema.ts';
import { type RunResult, type Tried, type Version, versionsOf } from './trial.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import { type WorkItem, type WorkQueue, createWorkQueue } from '../../../kernel/events/work/queue.ts';
import {
  codeOfBacktest,
  endBacktestOp,
  findBacktest,
  startBacktestOp,
  type BacktestRequest,
  type RequestedCode,
  type BacktestRow,
} from './rows.ts';

/** Limit of starts, so that a backtest that crashes the server is not restarted forever. */
const startsMax = 5;

export interface BacktestWork {
  perform(item: WorkItem, queue: WorkQueue): Promise<void>;
  /** Returns null if the backtest does not run in this process. */
  progress(id: string): BacktestProgress | null;
  cancel(id: string): void;
  /** Stops all backtests; the next process begins them again. */
  stop(): void;
}

function createBacktestWork(deps: BacktestDeps, engine: BacktestEngine): BacktestWork {
  const { clock } = deps;
  const { store } = deps.services;
  const active = new Map<string, { readonly controller: AbortController; progress: BacktestProgress }>();
  let stopping = false;

  const work = async ({ scope }: WorkItem, row: BacktestRow, signal: AbortSignal): Promise<object> => {
    const storedCode = await store.readOne(scope, codeOfBacktest, { id: row.id });
    const [version, next] = versionsOf(JSON.parse(storedCode?.package_json ?? '{}') as RequestedCode, row.id);
    const { window, runs } = JSON.parse(row.request_json) as BacktestRequest;
    const onProgress = (progress: BacktestProgress): void => {
      const one = active.get(row.id);
      if (one) one.progress = progress;
    };
    try {
      return next && runs !== null
        ? await throughGate(engine, store, scope, { old: version!, next, runs }, signal, onProgress)
        : await engine.backtest(scope, version!, window, signal, onProgress);
    } finally {
      const tested = [version, next].filter((one) => one !== undefined);
      for (const { isolateId } of tested) deps.sandbox.evict(isolateId);
    }
  };

  /** Returns the final status with report or error; null if the backtest was stopped or canceled. */
  const endOf = async (item: WorkItem, row: BacktestRow, signal: AbortSignal) => {
    const stopped = `The server stopped ${startsMax} times during this backtest. Start the backtest again.`;
    if (row.starts >= startsMax) return { status: 'failed' as const, error: stopped };
    try {
      return { status: 'done' as const, report: await work(item, row, signal) };
    } catch (error) {
      if (signal.aborted) return null;
      deps.services.log('error', 'backtest failed', { id: row.id, error: errorForLog(error) });
      return { status: 'failed' as const, error: error instanceof Error ? error.message : String(error) };
    }
  };

  return {
    async perform(item, queue) {
      const { scope, id } = item;
      const row = await store.readOne(scope, findBacktest, { id });
      if (!row || row.finished_at !== null) return void (await store.commit([queue.finish(item)]));
      await store.commit([startBacktestOp(scope, id, clock.nowMs())]);
      const controller = new AbortController();
      active.set(id, { controller, progress: { looked: 0, of: 0, runs: 0 } });
      try {
        const ended = await endOf(item, row, controller.signal);
        if (!ended) return void (stopping || queue.drop(item));
        const op = endBacktestOp(scope, id, { ...ended, now: clock.nowMs() });
        if (!(await store.commit([queue.finish(item), op])).ok) queue.drop(item);
      } finally {
        active.delete(id);
      }
    },
    progress: (id) => active.get(id)?.progress ?? null,
    cancel: (id) => active.get(id)?.controller.abort(),
    stop() {
      stopping = true;
      for (const { controller } of active.values()) controller.abort();
    },
  };
}

/** Limit of concurrent backtests. The fair quota lets one workspace run at most two of them. */
const concurrentBacktests = 3;

export interface Backtests {
  readonly engine: BacktestEngine;
  readonly queue: WorkQueue;
  readonly work: BacktestWork;
}

export function createBacktests(deps: BacktestDeps): Backtests {
  const { clock, owner, seen } = deps;
  const { store, log, mayWork } = deps.services;
  const engine = createEngine(deps);
  const work = createBacktestWork(deps, engine);
  const queue = createWorkQueue({
    store,
    clock,
    log,
    owner,
    seen,
    mayWork,
    kind: 'backtest',
    capacity: concurrentBacktests,
    setBack: () => [],
    perform: work.perform,
  });
  return { engine, queue, work };
}

const lastRuns = tenantStatement<{ event_id: string }>(
  'runs.last_of_events',
  `SELECT event_id FROM runs WHERE workspace_id = :ws AND install_id = :installId AND event_id IS NOT NULL
   ORDER BY created_at DESC, id DESC LIMIT :limit`,
);

/** Runs the installed and another version on the events of the last runs, and reports the differences. */
async function throughGate(
  engine: BacktestEngine,
  store: Store,
  scope: Scope,
  { old, next, runs }: { readonly old: Version; readonly next: Version; readonly runs: number },
  signal: AbortSignal,
  onProgress: (progress: BacktestProgress) => void,
): Promise<GateReport> {
  const rows = await store.read(scope, lastRuns, { installId: old.install.id, limit: runs });
  const lastEvents = await Promise.all(rows.map(({ event_id }) => findEvent(store, scope, event_id)));
  const events = lastEvents.filter((event) => event !== undefined).sort((a, b) => a.sequence - b.sequence);
  const wanting = await Promise.all([old, next].map(({ install }) => engine.subscribed(scope, install)));
  const pasts = engine.pastsFor(scope, old.install);
  const differences: GateReport['differences'][number][] = [];
  for (const [index, event] of events.entries()) {
    await engine.yieldTo(signal);
    pasts.moved();
    const tried: Tried[] = [];
    for (const [at, version] of [old, next].entries())
      tried.push(
        (await wanting[at]!(event))
          ? await engine.tryOn(scope, version, event, await pasts.at(event), signal)
          : unwanted,
      );
    signal.throwIfAborted();
    const fields = differencesOf(tried[0]!, tried[1]!);
    const at = new Date(event.createdAt).toISOString();
    if (fields.length > 0) differences.push({ eventId: event.id, type: event.type, at, fields });
    onProgress({ looked: index + 1, of: events.length, runs: 2 * (index + 1) });
  }
  const different = differences.length;
  return { runs: events.length, same: events.length - different, different, differences };
}

export const unwanted: Tried = { error: null, effects: [], cpuMs: 0, calls: [], asOfNow: [] };

/** Returns the values that two runs on the same event set differently. */
export function differencesOf(old: RunResult, next: RunResult): GateReport['differences'][number]['fields'] {
  const [was, is] = [valuesOf(old), valuesOf(next)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((key) => {
    const [object, field] = JSON.parse(key) as [string, string];
    const [one, other] = [was.get(key) ?? null, is.get(key) ?? null];
    return isDeepStrictEqual(one, other) ? [] : [{ object, field, old: one, new: other }];
  });
}

/**
 * Returns the set values by object and field. Created objects have different ids in each run, so they are
 * numbered by type.
 */
function valuesOf({ error, effects }: RunResult): Map<string, unknown> {
  const values = new Map<string, unknown>();
  const createdCounts = new Map<string, number>();
  if (error) values.set(JSON.stringify(['run', 'error']), `${error.code}: ${error.message}`);
  for (const effect of effects) {
    const ordinal = (createdCounts.get(effect.kind) ?? 0) + 1;
    if (effect.action === 'create') createdCounts.set(effect.kind, ordinal);
    const object = `${effect.kind} ${effect.action === 'create' ? `new ${ordinal}` : effect.id}`;
    for (const { field, wouldBe } of fieldEffectsOf(effect))
      values.set(JSON.stringify([object, field]), wouldBe);
  }
  return values;
}
