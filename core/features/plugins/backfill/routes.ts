import { Type } from 'typebox';
import { Closed, enumeration, idOf, namedSchema, nullable } from '../../../platform/lib/schema.ts';
import { plugin } from '../installs/contract.ts';
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { pluginRef, pluginVisibility, steering } from '../installs/rights.ts';
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { getInstall } from '../installs/installs.ts';
import { countAbandoned } from '../runs/rows.ts';
import { backfillsOfInstall, requestOps, type BackfillRow } from './backfill.ts';

const catchUpStatuses = ['nothing', 'off', 'counting', 'offered', 'running', 'done'] as const;

const BackfillResponse = namedSchema(
  'CatchUp',
  Closed({
    pluginId: idOf(plugin.id, 'Id of the install.'),
    status: enumeration(
      'CatchUpStatus',
      catchUpStatuses,
      'Status of the backfill. `nothing`: no missed events since the last backfill. `off`: the plugin is disabled and is missing events. `counting`: the plugin is enabled again and its missed events are being counted. `offered`: the count is complete and a backfill can be requested. `running`: the backfill is in progress. `done`: the backfill is complete.',
    ),
    missed: nullable(
      Type.Integer({
        description:
          'Number of missed events that match the subscriptions, plus given-up runs; null until counted.',
      }),
    ),
    runs: Type.Integer({ description: 'Number of runs created so far by this backfill.' }),
  }),
);

const params = Closed({ id: pluginRef });

/** Precedence of statuses if an install has several backfills. */
const precedence: readonly BackfillRow['status'][] = ['running', 'counting', 'offered', 'off', 'done'];

/** @throws ApiError not_found */
async function showBackfill(ctx: Context, pluginId: string) {
  const { id } = await getInstall(ctx, pluginId);
  const backfills = await backfillsOfInstall.all(ctx.store, ctx.scope, { install_id: id });
  return summaryOf(id, backfills, await countAbandoned(ctx.store, ctx.scope, id));
}

/** @throws ApiError not_found, conflict */
async function startBackfill(ctx: Context, pluginId: string, queue: WorkQueue): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  if (install.state !== 'active')
    throw new ApiError('conflict', `The plugin is ${install.state}. Enable it, then backfill.`);
  const backfills = await backfillsOfInstall.all(ctx.store, ctx.scope, { install_id: install.id });
  const requested = backfills
    .filter(({ status }) => status !== 'done')
    .map((backfill) =>
      backfill.status === 'counting' || backfill.status === 'offered'
        ? { ...backfill, status: 'running' as const }
        : backfill,
    );
  return {
    changes: [],
    ops: requestOps(ctx.scope, install.id, ctx.nowMs()),
    afterCommit: () => queue.wake(),
    body: summaryOf(install.id, requested, await countAbandoned(ctx.store, ctx.scope, install.id)),
    status: 202,
    location: `${ctx.baseUrl}/api/v1/plugins/${install.id}/catch-up`,
  };
}

function summaryOf(pluginId: string, backfills: readonly BackfillRow[], abandoned: number) {
  const status =
    precedence.find((one) => backfills.some((backfill) => backfill.status === one)) ?? ('nothing' as const);
  const ofStatus = backfills.filter((backfill) => backfill.status === status);
  const ofThis = status === 'done' ? doneLast(ofStatus) : ofStatus;
  const uncounted = ofThis.some(({ missed }) => missed === null);
  return {
    pluginId,
    status,
    missed: uncounted
      ? null
      : ofThis.reduce((sum, { missed }) => sum + (missed ?? 0), status === 'offered' ? abandoned : 0),
    runs: ofThis.reduce((sum, { runs }) => sum + runs, 0),
  };
}

/**
 * Returns the backfills of the last request: the newest, and each older one that was not done when the next
 * one opened.
 * @param backfills oldest first
 */
function doneLast(backfills: readonly BackfillRow[]): readonly BackfillRow[] {
  let first = backfills.length - 1;
  while (first > 0 && backfills[first]!.created_at <= (backfills[first - 1]!.finished_at ?? 0)) first--;
  return backfills.slice(Math.max(first, 0));
}

export function backfillRoutes(queue: WorkQueue): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}/catch-up',
      name: 'plugins.missed',
      summary: 'Get the missed events of a plugin and the backfill progress',
      scope: 'plugins:read',
      also: pluginVisibility,
      limit: 'read',
      params,
      responses: { 200: BackfillResponse },
      read: (ctx, { params }) => showBackfill(ctx, params.id),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins/{id}/catch-up',
      name: 'plugins.catch-up',
      summary: 'Backfill events a plugin missed while disabled',
      description:
        'Creates a run for each event that matched the subscriptions while the plugin was disabled, and retries the runs given up in that time. Events that already have a run are skipped. The backfill continues after the response: poll this URL until `status` is `done`.',
      scope: 'plugins:write',
      also: steering,
      limit: 'write',
      params,
      errors: ['conflict'],
      responses: { 202: BackfillResponse },
      write: (ctx, { params }) => startBackfill(ctx, params.id, queue),
    }),
  ];
}
