// Queues and performs backtests and gates. A server restart begins them again, because intermediate results
// are not stored.
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import { type WorkItem, type WorkQueue, createWorkQueue } from '../../../kernel/events/work/queue.ts';
import type { Op, Scope } from '../../../platform/store/store.ts';
import { afterwardsOf } from './comparisons.ts';
import {
  eventsOfLastRuns,
  eventsOfWindow,
  newTotals,
  type Sourcing,
  type Totals,
  type TrialDeps,
  type TrialEngine,
} from './engine.ts';
import { createCollector, createGateComparison } from './reports.ts';
import {
  codeOfBacktest,
  endBacktestOp,
  endOfRuleOp,
  findBacktest,
  startBacktestOp,
  type BacktestRequest,
  type RequestedCode,
  type BacktestRow,
} from './rows.ts';
import { rulesPackage } from '../installs/rules.ts';
import { rulesPlugin } from '../packages.ts';
import { asInstalled, type RequestedVersion, type Version } from './versions.ts';

/** Limit of starts, so that a backtest that crashes the server is not restarted forever. */
const startsMax = 5;
/** Limit of concurrent backtests. The fair quota lets one workspace run at most two of them. */
const concurrentBacktests = 3;

export type Backtests = ReturnType<typeof createBacktests>;

export function createBacktests(deps: TrialDeps, engine: TrialEngine) {
  const { clock, owner, seen } = deps;
  const { store, log, mayWork } = deps.services;
  const active = new Map<string, { readonly controller: AbortController; readonly totals: Totals }>();
  let stopping = false;

  /** Returns the final status with report or error; null if the backtest was stopped or canceled. */
  const endOf = async ({ scope }: WorkItem, row: BacktestRow) => {
    const stopped = `The server stopped ${startsMax} times during this backtest. Start the backtest again.`;
    if (row.starts >= startsMax) return { status: 'failed' as const, error: stopped };
    const [controller, totals] = [new AbortController(), newTotals()];
    const { signal } = controller;
    active.set(row.id, { controller, totals });
    try {
      return {
        status: 'done' as const,
        report: await reportOf(deps, { engine, scope, signal, totals }, row),
      };
    } catch (error) {
      if (signal.aborted) return null;
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
      const ops = endOps(scope, row, { ...ended, now: clock.nowMs() });
      if (!(await store.commit([queue.finish(item), ...ops])).ok) queue.drop(item);
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
    /** Returns null if the backtest does not run in this process. */
    progress(id: string) {
      const totals = active.get(id)?.totals;
      return totals ? { looked: totals.looked, of: totals.of, runs: totals.runs } : null;
    },
    cancel: (id: string): void => active.get(id)?.controller.abort(),
    /** Stops all backtests; the next process begins them again. */
    stop(): void {
      stopping = true;
      for (const { controller } of active.values()) controller.abort();
    },
  };
}

/** Adds the code of a rule, which is not stored with its backtest. */
async function withCode(version: RequestedVersion): Promise<RequestedVersion> {
  if (version.code.code !== '') return version;
  const { code, sha256 } = await rulesPackage();
  return { ...version, code: { ...version.code, code, sha256 } };
}

function endOps(scope: Scope, row: BacktestRow, end: Parameters<typeof endBacktestOp>[2]): Op[] {
  const ofRule = row.plugin_id === rulesPlugin ? [endOfRuleOp(scope, row, end.status)] : [];
  return [endBacktestOp(scope, row.id, end), ...ofRule];
}

async function reportOf(
  { sandbox, services: { store } }: TrialDeps,
  on: Omit<Sourcing, 'store'>,
  row: BacktestRow,
): Promise<object> {
  const { engine, scope, totals } = on;
  const stored = await store.readOne(scope, codeOfBacktest, { id: row.id });
  const { installId, versions: requested } = JSON.parse(stored?.package_json ?? '{}') as RequestedCode;
  const { window, runs } = JSON.parse(row.request_json) as BacktestRequest;
  const versions = (await Promise.all(requested.map(withCode))).map((version, index) =>
    asInstalled(installId, version, { isolateId: index === 0 ? row.id : `${row.id}.${index}` }),
  ) as [Version, ...Version[]];
  const sourcing = { ...on, store };
  const [subjects, { compare, report }] =
    runs === null
      ? [
          eventsOfWindow(sourcing, versions[0], window),
          createCollector(window, (event, effect) => afterwardsOf(store, scope, installId, event, effect)),
        ]
      : [eventsOfLastRuns(sourcing, versions, runs), createGateComparison()];
  try {
    await engine.perform({ ...on, versions, subjects, compare });
    return report(totals);
  } finally {
    for (const { isolateId } of versions) sandbox.evict(isolateId);
  }
}
