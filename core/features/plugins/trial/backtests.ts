// Queues and performs backtests and gates. A server restart begins them again, because intermediate results
// are not stored.
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import { type WorkItem, type WorkQueue, createWorkQueue } from '../../../kernel/events/work/queue.ts';
import { afterwardsOf } from './comparisons.ts';
import {
  lastRunsSource,
  windowSource,
  type EventWindow,
  type Progress,
  type Sourcing,
  type TrialDeps,
  type TrialEngine,
} from './engine.ts';
import { createCollector, createGateComparison } from './reports.ts';
import {
  codeOfBacktest,
  endBacktestOp,
  findBacktest,
  startBacktestOp,
  type BacktestRequest,
  type RequestedCode,
  type BacktestRow,
} from './rows.ts';
import { asInstalled, type Version } from './versions.ts';

/** Limit of starts, so that a backtest that crashes the server is not restarted forever. */
const startsMax = 5;
/** Limit of concurrent backtests. The fair quota lets one workspace run at most two of them. */
const concurrentBacktests = 3;

interface BacktestProgress extends Progress {
  readonly runs: number;
}

export interface Backtests {
  readonly queue: WorkQueue;
  /** Returns null if the backtest does not run in this process. */
  progress(id: string): BacktestProgress | null;
  cancel(id: string): void;
  /** Stops all backtests; the next process begins them again. */
  stop(): void;
}

interface Active {
  readonly controller: AbortController;
  progress(): BacktestProgress;
}

export function createBacktests(deps: TrialDeps, engine: TrialEngine): Backtests {
  const { clock, owner, seen } = deps;
  const { store, log, mayWork } = deps.services;
  const active = new Map<string, Active>();
  let stopping = false;

  /** Returns the final status with report or error; null if the backtest was stopped or canceled. */
  const endOf = async (item: WorkItem, row: BacktestRow) => {
    const stopped = `The server stopped ${startsMax} times during this backtest. Start the backtest again.`;
    if (row.starts >= startsMax) return { status: 'failed' as const, error: stopped };
    const controller = new AbortController();
    const begin = (progress: Active['progress']): void => void active.set(row.id, { controller, progress });
    begin(() => ({ looked: 0, of: 0, runs: 0 }));
    try {
      const report = await reportOf(deps, engine, item, row, controller.signal, begin);
      return { status: 'done' as const, report };
    } catch (error) {
      if (controller.signal.aborted) return null;
      log('error', 'backtest failed', { id: row.id, error: errorForLog(error) });
      return { status: 'failed' as const, error: error instanceof Error ? error.message : String(error) };
    }
  };

  const perform = async (item: WorkItem, queue: WorkQueue): Promise<void> => {
    const { scope, id } = item;
    const row = await store.readOne(scope, findBacktest, { id });
    if (!row || row.finished_at !== null) return void (await store.commit([queue.finish(item)]));
    await store.commit([startBacktestOp(scope, id, clock.nowMs())]);
    try {
      const ended = await endOf(item, row);
      if (!ended) return void (stopping || queue.drop(item));
      const op = endBacktestOp(scope, id, { ...ended, now: clock.nowMs() });
      if (!(await store.commit([queue.finish(item), op])).ok) queue.drop(item);
    } finally {
      active.delete(id);
    }
  };

  return {
    queue: createWorkQueue({
      store,
      clock,
      log,
      owner,
      seen,
      mayWork,
      kind: 'backtest',
      capacity: concurrentBacktests,
      setBack: () => [],
      perform,
    }),
    progress: (id) => active.get(id)?.progress() ?? null,
    cancel: (id) => active.get(id)?.controller.abort(),
    stop() {
      stopping = true;
      for (const { controller } of active.values()) controller.abort();
    },
  };
}

/** @param begin called with the progress of the backtest, before it runs */
async function reportOf(
  deps: TrialDeps,
  engine: TrialEngine,
  { scope }: WorkItem,
  row: BacktestRow,
  signal: AbortSignal,
  begin: (progress: Active['progress']) => void,
): Promise<object> {
  const stored = await deps.services.store.readOne(scope, codeOfBacktest, { id: row.id });
  const { installId, versions: requested } = JSON.parse(stored?.package_json ?? '{}') as RequestedCode;
  const { window, runs } = JSON.parse(row.request_json) as BacktestRequest;
  const versions = requested.map((version, index) =>
    asInstalled(installId, version, { isolateId: index === 0 ? row.id : `${row.id}.${index}` }),
  ) as [Version, ...Version[]];
  const on = { deps, engine, scope, signal };
  const { source, compare, report, runsMade } =
    runs === null ? backtestOf(on, versions[0], window) : gateOf(on, versions, runs);
  begin(() => ({ ...source.progress(), runs: runsMade() }));
  try {
    await engine.perform({ scope, versions, subjects: source.subjects, compare, signal });
    return report();
  } finally {
    for (const { isolateId } of versions) deps.sandbox.evict(isolateId);
  }
}

function backtestOf(on: Sourcing, version: Version, window: EventWindow) {
  const { deps, scope } = on;
  const collector = createCollector(window, (event, effect) =>
    afterwardsOf(deps.services.store, scope, version.install.id, event, effect),
  );
  const source = windowSource(on, version, window, collector.cpuMs);
  return { ...collector, source, report: () => collector.report(source) };
}

function gateOf(on: Sourcing, versions: readonly [Version, ...Version[]], runs: number) {
  return { ...createGateComparison(), source: lastRunsSource(on, versions, runs) };
}
