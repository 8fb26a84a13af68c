import { Type } from 'typebox';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Closed, idOf, pageOf, pageQuery } from '../../../platform/lib/schema.ts';
import { pluginRef, pluginVisibility, runVisibility, steering } from '../installs/rights.ts';
import { getRun, listRuns, runSchedule, findRunNow, showRun, type RunActivity } from './runs.ts';
import { RunResponse } from './schema.ts';
import { giveUpOp, isOpen, releaseNextOps } from './state.ts';
import { runStatus } from '../contract.ts';
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import { ApiError, notFound } from '../../../platform/lib/errors/errors.ts';
import { endedError } from './errors.ts';
import { endedRunEvent, ranBy } from './record.ts';
import type { RunRow } from './rows.ts';

const scheduleName = Type.String({
  pattern: '^[a-z][a-zA-Z0-9-]{0,39}$',
  description: 'Name of a schedule in the manifest.',
});

interface CancelWork extends RunActivity {
  readonly queue: WorkQueue;
  stopAttempt(runId: string): void;
}

/**
 * Ends an open run as canceled. An attempt in progress has no effects, because its batch finds the run ended.
 * @throws ApiError not_found; conflict if the run has ended
 */
async function cancelRun(ctx: Context, id: string, work: CancelWork): Promise<ChangeSet> {
  const row = await findRunNow(ctx, id, work);
  if (!row) throw notFound();
  if (!isOpen(row)) throw new ApiError('conflict', endedText(row));
  const now = ctx.nowMs();
  const error = endedError(row, { code: 'canceled', message: `Canceled by ${ctx.actor.name}.` });
  const by = await ranBy(ctx.store, ctx.scope, row);
  const { attempt, mode } = row;
  const runEvent = endedRunEvent(
    { status: 'canceled', attempt, error },
    { run: row, mode, by, calls: [], changes: [] },
  );
  return {
    changes: runEvent ? [runEvent] : [],
    ops: [
      giveUpOp(ctx.scope, id, { status: 'canceled', error }, now),
      work.queue.remove(ctx.scope, id),
      ...releaseNextOps(work.queue, ctx.scope, row, now),
    ],
    afterCommit: () => work.stopAttempt(id),
    body: showRun({ ...row, status: 'canceled', finished_at: now, error_json: JSON.stringify(error) }, work),
  };
}

function endedText({ status, continued_by: next }: RunRow): string {
  const more =
    next === null
      ? ' Cancel only runs that have not ended.'
      : ` It continues as ${next}; cancel that run instead.`;
  return `This run has already ended with status ${status}.${more}`;
}

export function runRoutes(work: CancelWork): Route[] {
  return [...routesOfPlugin(work), ...routesOfOne(work)];
}

function routesOfPlugin(work: CancelWork): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}/runs',
      name: 'plugins.runs',
      summary: 'List the runs of a plugin, newest first',
      scope: 'plugins:read',
      also: pluginVisibility,
      limit: 'read',
      params: Closed({ id: pluginRef }),
      query: Closed({ ...pageQuery, status: Type.Optional(runStatus) }),
      responses: { 200: pageOf(RunResponse) },
      errors: ['invalid_cursor'],
      read: (ctx, { params, query }) => listRuns(ctx, params.id, query, work),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins/{id}/schedules/{name}/run',
      name: 'plugins.run-schedule',
      summary: 'Run a schedule of a plugin now',
      description: 'Returns the queued run at once. Poll the run until it has ended.',
      scope: 'plugins:write',
      also: steering,
      limit: 'write',
      params: Closed({ id: pluginRef, name: scheduleName }),
      errors: ['conflict'],
      responses: { 202: RunResponse },
      write: (ctx, { params }) => runSchedule(ctx, params.id, params.name, work.queue),
    }),
  ];
}

function routesOfOne(work: CancelWork): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/runs/{id}',
      name: 'runs.get',
      summary: 'Get a run with its calls, effects, cost and logs',
      scope: 'plugins:read',
      also: runVisibility,
      limit: 'read',
      params: Closed({ id: idOf(idPrefixes.run) }),
      responses: { 200: RunResponse },
      read: (ctx, { params }) => getRun(ctx, params.id, work),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/runs/{id}/cancel',
      name: 'runs.cancel',
      summary: 'Cancel a run that has not ended',
      description:
        'The run becomes `canceled`, and no further attempt is made. An attempt in progress is aborted without effects.',
      scope: 'plugins:write',
      also: runVisibility,
      limit: 'write',
      params: Closed({ id: idOf(idPrefixes.run) }),
      errors: ['conflict'],
      responses: { 200: RunResponse },
      write: (ctx, { params }) => cancelRun(ctx, params.id, work),
    }),
  ];
}
