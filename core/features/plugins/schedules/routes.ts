// Routes to list and delete the pending one-time jobs of a plugin.
import { Type } from 'typebox';
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import { cursorOf, type PageParameters } from '../../../kernel/changes/list.ts';
import { isoTime, requireVersion } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import { defineRoute } from '../../../kernel/http/route.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import {
  Closed,
  described,
  limitDefault,
  namedSchema,
  pageOf,
  pageQuery,
  time,
} from '../../../platform/lib/schema.ts';
import { effectTable } from '../../../kernel/rights/effects.ts';
import { readPage } from '../../../platform/store/page.ts';
import { getInstall } from '../installs/installs.ts';
import { pluginRef, pluginVisibility, steering } from '../installs/rights.ts';
import type { Install } from '../installs/model.ts';
import type { RunInput } from '../runs/job.ts';
import { oneTimeJobTable } from '../tables.ts';
import {
  endOneTimeJobOps,
  findOneTimeJob,
  idOfOneTimeJob,
  scheduleOf,
  type OneTimeJobRow,
  handlesOneTimeJob,
} from './one-time-jobs.ts';

const jobName = Type.String({
  pattern: '^[a-z][a-zA-Z0-9-]{0,39}(:[A-Za-z0-9_.:-]{1,100})?$',
  description: 'Name of the one-time job: `remind` or `remind:key`.',
});

const ScheduledRunResponse = namedSchema(
  'ScheduledRun',
  Closed({
    name: jobName,
    schedule: Type.String({ description: 'Name of the schedule whose handler runs.' }),
    dueAt: described(time, 'Time at which the job is due.'),
    data: Type.Unknown({ description: 'Input of the handler; null without the scope `plugins:write`.' }),
    createdAt: described(time, 'Time at which the job was first scheduled.'),
    hasHandler: Type.Boolean({
      description:
        'False if the installed version has no such schedule without `cron`. The job then fails with `no_handler` when due, unless a version with the schedule is installed first.',
    }),
  }),
);

async function listScheduled(ctx: Context, ref: string, query: PageParameters) {
  const { id: installId, manifest } = await getInstall(ctx, ref);
  const { data, pageInfo } = await readPage(ctx.store, ctx.sealing, ctx.scope, {
    table: 'one_time_jobs',
    select: oneTimeJobTable.columns.join(', '),
    where: [{ sql: 'install_id = :installId', params: { installId } }],
    order: [{ sql: 'due_at', direction: 'asc' }],
    limit: query.limit ?? limitDefault,
    after: cursorOf(query),
    parameters: { installId },
  });
  const isWhole = ctx.scopes.has(effectTable.logs.scope);
  return {
    data: data.map((row) => toScheduledRunResponse(row as unknown as OneTimeJobRow, manifest, isWhole)),
    pageInfo,
  };
}

function toScheduledRunResponse(row: OneTimeJobRow, manifest: Install['manifest'], isWhole: boolean) {
  const { event } = JSON.parse(row.input_json) as RunInput;
  return {
    name: row.name,
    schedule: scheduleOf(row.name),
    dueAt: isoTime(row.due_at),
    data: isWhole ? (event?.data ?? null) : null,
    createdAt: isoTime(row.created_at),
    hasHandler: handlesOneTimeJob(manifest, row.name),
  };
}

async function deleteScheduled(
  ctx: Context,
  ref: string,
  name: string,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const { id, pluginId } = await getInstall(ctx, ref);
  const job = await findOneTimeJob(ctx.store, ctx.scope, idOfOneTimeJob(id, name));
  if (!job)
    throw new ApiError(
      'not_found',
      `${pluginId} has no pending one-time job ${name}. Use a name that the list of jobs returns.`,
    );
  requireVersion(job, ifMatch);
  return { changes: [], ops: endOneTimeJobOps(ctx.scope, job), body: undefined };
}

export const scheduledRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/plugins/{id}/scheduled',
    name: 'plugins.scheduled',
    summary: 'List the pending one-time jobs of a plugin, next due first',
    scope: 'plugins:read',
    also: pluginVisibility,
    limit: 'read',
    params: Closed({ id: pluginRef }),
    query: Closed(pageQuery),
    responses: { 200: pageOf(ScheduledRunResponse) },
    errors: ['invalid_cursor'],
    read: (ctx, { params, query }) => listScheduled(ctx, params.id, query),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/plugins/{id}/scheduled/{name}',
    name: 'plugins.unschedule',
    summary: 'Delete a pending one-time job',
    scope: 'plugins:write',
    also: steering,
    limit: 'write',
    params: Closed({ id: pluginRef, name: jobName }),
    responses: { 204: null },
    write: (ctx, { params, ifMatch }) => deleteScheduled(ctx, params.id, params.name, ifMatch),
  }),
];
