// Cancels an open run on request. The run becomes dead; an attempt in progress has no effects, because its batch finds the run ended.
import type { ChangeSet } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import type { WorkQueue } from '../../events/work.ts';
import { ApiError, notFound } from '../../lib/errors.ts';
import { endedError } from './failure.ts';
import { endOpenRunOp } from './record.ts';
import { releaseNextOps, type RunRow } from './rows.ts';
import { findRunNow, showRun, type RunActivity } from './runs.ts';
import { ranBy, endedRunEvent } from './run-event.ts';

const open: ReadonlySet<RunRow['status']> = new Set(['queued', 'running', 'retrying']);

export interface CancelWork extends RunActivity {
  readonly queue: WorkQueue;
  stopAttempt(runId: string): void;
}

/** @throws ApiError not_found; conflict if the run has ended */
export async function cancelRun(ctx: Context, id: string, work: CancelWork): Promise<ChangeSet> {
  const row = await findRunNow(ctx, id, work);
  if (!row) throw notFound();
  if (!open.has(row.status)) throw new ApiError('conflict', endedText(row));
  const now = ctx.nowMs();
  const error = endedError(row, { code: 'canceled', message: `Canceled by ${ctx.actor.name}.` });
  const by = await ranBy(ctx.store, ctx.scope, row);
  const runEvent = endedRunEvent({
    ...{ run: row, status: 'dead', attempt: row.attempt, mode: row.mode },
    ...{ error, by, calls: [], changes: [] },
  });
  return {
    changes: runEvent ? [runEvent] : [],
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
  const more =
    next === null
      ? ' Cancel only runs that have not ended.'
      : ` It continues as ${next}; cancel that run instead.`;
  return `This run has already ended with status ${status}.${more}`;
}
