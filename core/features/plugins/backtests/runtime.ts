// Assembles the engine, the work queue and the worker of backtests.
import { createWorkQueue, type WorkQueue } from '../../../kernel/events/work/queue.ts';
import type { SeenTimes } from '../../../kernel/events/wall-clock.ts';
import { createEngine, type BacktestEngine, type EngineOptions } from './engine/engine.ts';
import { createBacktestWork, type BacktestWork } from './worker.ts';

/** Limit of concurrent backtests. The fair quota lets one workspace run at most two of them. */
const concurrentBacktests = 3;

export interface Backtests {
  readonly engine: BacktestEngine;
  readonly queue: WorkQueue;
  readonly work: BacktestWork;
}

export function createBacktests(
  options: EngineOptions & { readonly owner: string; readonly seen: SeenTimes },
): Backtests {
  const { store, clock, owner, seen } = options;
  const { log, mayWork } = options.services;
  const engine = createEngine(options);
  const work = createBacktestWork({ ...options, engine });
  const queue = createWorkQueue({
    ...{ store, clock, log, owner, seen, mayWork, kind: 'backtest', capacity: concurrentBacktests },
    setBack: () => [],
    perform: work.perform,
  });
  return { engine, queue, work };
}
