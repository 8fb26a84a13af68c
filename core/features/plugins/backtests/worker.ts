// Queues and performs backtests and gates. A server restart begins them again, because intermediate results are not stored.
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import { type WorkItem, type WorkQueue, createWorkQueue } from '../../../kernel/events/work/queue.ts';
import {
  type BacktestDeps,
  type BacktestEngine,
  type BacktestProgress,
  createEngine,
} from './engine/engine.ts';
import { throughGate } from './gate.ts';
import {
  codeOfBacktest,
  endBacktestOp,
  findBacktest,
  startBacktestOp,
  type BacktestRequest,
  type RequestedCode,
  type BacktestRow,
} from './rows.ts';
import { versionsOf } from './engine/versions.ts';

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
    const { window, runs } = JSON.parse(row.asked_json) as BacktestRequest;
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
