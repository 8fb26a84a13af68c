// Adapts runs of events to work units. Most runs end within milliseconds and are written once, with their
// effects; a run that has to wait gets a row and a work row.
import type { EventRow } from '../../../kernel/events/event.ts';
import type { Unit, UnitRows, WorkItem, WorkQueue } from '../../../kernel/events/work/queue.ts';
import { scopeOf, type Scope, type Store } from '../../../platform/store/store.ts';
import {
  findRun,
  insertRunsOp,
  isOpenBefore,
  keyOf,
  queueRunOp,
  queuedRow,
  type NewRun,
  type RunRow,
} from './rows.ts';

export interface RunUnit extends Unit {
  readonly run: RunRow;
  readonly event: EventRow;
}

interface UnitOptions {
  /** Performs a run. The row of the run may not be stored yet. */
  perform(item: WorkItem, run: RunRow, event: EventRow): Promise<void>;
}

export function runUnit(
  options: UnitOptions,
  scope: Scope,
  planned: { readonly run: NewRun; readonly event: EventRow; readonly nowMs: number },
): RunUnit {
  const { event, nowMs } = planned;
  const { id, installId, handler, orderKey, sequence } = planned.run;
  const run = queuedRow(planned.run, nowMs);
  return {
    run,
    event,
    id,
    sequence,
    scope: scopeOf(scope.workspaceId, installId),
    subject: installId,
    // A run whose order key is its id never waits for another run.
    orderKey: orderKey === id ? null : `${installId} ${handler.name} ${orderKey}`,
    perform: (item) => options.perform(item, run, event),
  };
}

/** @param remember called with each stored run, so that its first attempt need not read run and event again */
export function runRows(
  store: Store,
  remember: (run: RunRow, event: EventRow) => void,
  queue: () => WorkQueue,
): UnitRows<RunUnit> {
  return {
    isBlocked: ({ scope, run }) => isOpenBefore(store, scope, run),
    isStored: async ({ scope, id }) => (await findRun(store, scope, id)) !== undefined,
    insertOp: (scope, units) =>
      insertRunsOp(
        scope,
        units.map(({ run }) => run),
      ),
    addInOrderOp: ({ scope, run }, leases, nowMs) => queueRunOp(queue(), scope, keyOf(run), nowMs, leases),
    stored: ({ run, event }) => remember(run, event),
  };
}
