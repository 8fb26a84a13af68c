// Continues a schedule that is not done: the batch that ends a run queues the next run, with the time at
// which the schedule was due.
import type { WorkQueue } from '../../../../kernel/events/work/queue.ts';
import type { Ids } from '../../../../platform/lib/ids.ts';
import { idPrefixes } from '../../../../platform/lib/ids.ts';
import type { GuestProgress } from '../../../../platform/sandbox/supervisor.ts';
import { tenantStatement } from '../../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../../platform/store/store.ts';
import { queueRunOps, type NewRun, type RunRow } from '../rows.ts';

const runsPerFiringMax = 200;

const setProgress = tenantStatement(
  'runs.progress',
  'UPDATE runs SET progress_json = :progress, continued_by = :next WHERE workspace_id = :ws AND id = :id',
);
const setContinuation = tenantStatement(
  'runs.continuation',
  `UPDATE runs SET progress_json = :progress, continuation = :continuation, fired_at = :firedAt
   WHERE workspace_id = :ws AND id = :id`,
);

/** `goesOn` is false if the schedule is done; `stuck` is the error message if it makes no progress. */
export type ContinuationState = { readonly goesOn: boolean } | { readonly stuck: string };

export function continuationStateOf(run: RunRow, progress: GuestProgress | undefined): ContinuationState {
  if (!progress || progress.done >= progress.of) return { goesOn: false };
  const before = run.continuation === 0 ? undefined : progressOf(run);
  if (before && progress.done <= before.done)
    return {
      stuck: `The schedule made no progress: it is at ${progress.done} of ${progress.of}, no further than the previous run. Return a greater \`done\`.`,
    };
  if (run.continuation + 1 >= runsPerFiringMax)
    return {
      stuck: `The schedule is not done after ${runsPerFiringMax} runs in a row. Process more units per run.`,
    };
  return { goesOn: true };
}

/**
 * Returns the ops that queue the next run. They must follow the op that ends `run`, else the next run would
 * wait for it.
 */
export function continueOps(
  input: { queue: WorkQueue; scope: Scope; ids: Ids; run: RunRow; progress: GuestProgress },
  nowMs: number,
): readonly Op[] {
  const { queue, scope, ids, run, progress } = input;
  const next: NewRun = {
    id: ids.next(idPrefixes.run),
    installId: run.install_id,
    handler: { kind: run.handler_kind, name: run.handler },
    orderKey: run.order_key,
    sequence: Math.max(nowMs, run.sequence + 1),
    eventId: null,
    rootEventId: null,
    depth: run.depth,
    mode: run.mode,
    inputJson: run.input_json,
  };
  const text = JSON.stringify(progress);
  const mark = { id: next.id, progress: text, continuation: run.continuation + 1, firedAt: firedAtOf(run) };
  return [
    tenantOp(scope, setProgress, { id: run.id, progress: text, next: next.id }),
    ...queueRunOps(queue, scope, next, nowMs),
    tenantOp(scope, setContinuation, mark),
  ];
}

export function progressOp(scope: Scope, runId: string, progress: GuestProgress): Op {
  return tenantOp(scope, setProgress, { id: runId, progress: JSON.stringify(progress), next: null });
}

export function progressOf(run: RunRow): GuestProgress | null {
  return run.progress_json === null ? null : (JSON.parse(run.progress_json) as GuestProgress);
}

/** Returns the time at which the schedule was due, the same for all runs of one firing. */
export function firedAtOf(run: RunRow): number {
  return run.fired_at ?? run.created_at;
}
