// Assembles engine, work queue and worker of backtests.
import { createWorkQueue, type WorkQueue } from '../../events/work.ts';
import type { SeenTimes } from '../../events/wall-clock.ts';
import { createEngine, type BacktestEngine, type EngineOptions } from './engine.ts';
import { createBacktestWork, type BacktestWork } from './worker.ts';

/** Concurrent backtests of all workspaces. Under the fair-share quota, one workspace gets at most two and leaves one to the others. */
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
