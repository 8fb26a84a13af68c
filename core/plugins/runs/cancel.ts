// Ends an open run at somebody's request. It is dead then, and nothing is kept of an attempt that is under way: its batch finds the run
// ended.
import type { ChangeSet } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import type { WorkQueue } from '../../events/work.ts';
import { ApiError, notFound } from '../../lib/errors.ts';
import { endedError } from './failure.ts';
import { endOpenRunOp } from './record.ts';
import { releaseNextOps, type RunRow } from './rows.ts';
import { findRunNow, showRun, type RunActivity } from './runs.ts';
import { ranBy, tellOver } from './told.ts';

const open: ReadonlySet<RunRow['status']> = new Set(['queued', 'running', 'retrying']);

export interface CancelWork extends RunActivity {
  readonly queue: WorkQueue;
  /** Stops the attempt of a run that is under way. */
  stopAttempt(runId: string): void;
}

/** @throws ApiError not_found; conflict when the run has ended */
export async function cancelRun(ctx: Context, id: string, work: CancelWork): Promise<ChangeSet> {
  const row = await findRunNow(ctx, id, work);
  if (!row) throw notFound();
  if (!open.has(row.status)) throw new ApiError('conflict', endedText(row));
  const now = ctx.nowMs();
  const error = endedError(row, { code: 'canceled', message: `Canceled by ${ctx.actor.name}.` });
  const by = await ranBy(ctx.store, ctx.scope, row);
  const told = tellOver({
    ...{ run: row, status: 'dead', attempt: row.attempt, mode: row.mode },
    ...{ error, by, calls: [], changes: [] },
  });
  return {
    changes: told ? [told] : [],
    ops: [
      endOpenRunOp(ctx.scope, id, error, now),
      work.queue.remove(ctx.scope, id),
      ...releaseNextOps(work.queue, ctx.scope, row, now),
    ],
    afterCommit: () => work.stopAttempt(id),
    body: showRun({ ...row, status: 'dead', finished_at: now, error_json: JSON.stringify(error) }, work),
  };
}

function endedText({ status, continued_by: next }: RunRow): string {
  const more = next === null ? '' : ` It goes on as ${next}: cancel that one.`;
  return `This run has ended: it is ${status}.${more}`;
}
