// Assembles the engine, the work queue and the worker of backtests.
import { createWorkQueue, type WorkQueue } from '../../../kernel/events/work/queue.ts';
import { createEngine, type BacktestDeps, type BacktestEngine } from './engine/engine.ts';
import { createBacktestWork, type BacktestWork } from './worker.ts';

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
