import { Type } from 'typebox';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Closed, idOf, pageOf, pageQuery } from '../../../platform/lib/schema.ts';
import { effectiveMode, requireActive } from '../installs/mode.ts';
import { findInstall } from '../installs/rules.ts';
import { pluginRef, pluginVisibility, runVisibility, steering, steeringRun } from '../installs/rights.ts';
import { getRun, listRuns, runSchedule, findRunNow, showRun, type RunActivity } from './runs.ts';
import { RunResponse } from './schema.ts';
import { giveUpOp, isOpen, isRetriable, releaseNextOps, requeueRunOps } from './state.ts';
import { runStatus } from '../contract.ts';
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import { findEvent } from '../../../kernel/events/log/log.ts';
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import { ApiError, notFound } from '../../../platform/lib/errors/errors.ts';
import { endedError } from './errors.ts';
import { endedRunEvent, ranBy } from './record.ts';
import { isForgotten, type RunRow } from './rows.ts';

const scheduleName = Type.String({
  pattern: '^[a-z][a-zA-Z0-9-]{0,39}$',
  description: 'Name of a schedule in the manifest.',
});

interface RunWork extends RunActivity {
  readonly queue: WorkQueue;
  stopAttempt(runId: string): void;
}

/**
 * Ends an open run as canceled. An attempt in progress has no effects, because its batch finds the run ended.
 * @throws ApiError not_found; conflict if the run has ended
 */
async function cancelRun(ctx: Context, id: string, work: RunWork): Promise<ChangeSet> {
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

/**
 * Queues another attempt of an ended run: the same run with the same input, so responses of other servers
 * come from its journal. A plugin whose automatic attempts are used up gets one attempt per retry.
 * @throws ApiError not_found; gone; conflict if the run is open or done, if its canceled attempt still ends,
 * or if the plugin is not active
 */
async function retryRun(ctx: Context, id: string, work: RunWork): Promise<ChangeSet> {
  const row = await findRunNow(ctx, id, work);
  if (!row) throw notFound();
  if (!isRetriable(row)) {
    const { status } = showRun(row, work);
    throw new ApiError('conflict', `This run is ${status}. Retry only runs that are dead or canceled.`);
  }
  if (work.queue.isActive(id))
    throw new ApiError(
      'conflict',
      'The canceled attempt of this run is still ending. Retry in a few seconds.',
    );
  await requireInput(ctx, row);
  const install = await findInstall(ctx, row.install_id);
  if (!install || install.deletedAt !== null)
    throw new ApiError(
      'conflict',
      'The plugin of this run was removed. Install the plugin and run it on new events.',
    );
  requireActive(install);
  const mode = effectiveMode(install);
  const queued = { status: 'queued', mode, finished_at: null, error_json: null, proposal_id: null } as const;
  return {
    changes: [],
    // A run of the same order key in memory would not be seen by the statement that queues this run behind
    // it.
    beforeCommit: () => work.storeWork(ctx.scope, row.install_id),
    ops: requeueRunOps(work.queue, ctx.scope, row, { mode, nowMs: ctx.nowMs() }),
    body: showRun({ ...row, ...queued }, work),
    status: 202,
    location: `${ctx.baseUrl}/api/v1/runs/${id}`,
  };
}

/** @throws ApiError gone */
async function requireInput({ store, scope }: Context, row: RunRow): Promise<void> {
  const isGone =
    isForgotten(row) || (row.event_id !== null && !(await findEvent(store, scope, row.event_id)));
  if (isGone)
    throw new ApiError(
      'gone',
      'The input of this run was removed with a purged issue. The run cannot be retried.',
    );
}

export function runRoutes(work: RunWork): Route[] {
  return [...routesOfPlugin(work), ...routesOfOne(work)];
}

function routesOfPlugin(work: RunWork): Route[] {
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

function routesOfOne(work: RunWork): Route[] {
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
    defineRoute({
      method: 'POST',
      path: '/api/v1/runs/{id}/retry',
      name: 'runs.retry',
      summary: 'Retry a run that is dead or canceled',
      description:
        'Queues another attempt of the same run, with the same input and the installed version of the plugin. Requests to other servers that were answered before are not sent again. Poll the run until it has ended.',
      scope: 'plugins:write',
      also: steeringRun,
      limit: 'write',
      params: Closed({ id: idOf(idPrefixes.run) }),
      errors: ['conflict', 'gone'],
      responses: { 202: RunResponse },
      write: (ctx, { params }) => retryRun(ctx, params.id, work),
    }),
  ];
}
