import type { WorkQueue } from '../../events/work.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { Closed } from '../../lib/schema.ts';
import { pluginRef } from '../installs/ref.ts';
import { pluginVisibility, steering } from '../installs/rights.ts';
import { startBackfill, showBackfill } from './backfill.ts';
import { BackfillResponse } from './schema.ts';

const params = Closed({ id: pluginRef });

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
