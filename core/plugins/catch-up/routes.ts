import type { WorkQueue } from '../../events/work.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { Closed } from '../../lib/schema.ts';
import { pluginRef } from '../installs/ref.ts';
import { seeing, steering } from '../installs/rights.ts';
import { catchUp, showCatchUp } from './catch-up.ts';
import { CatchUpShown } from './schema.ts';

const params = Closed({ id: pluginRef });

export function catchUpRoutes(queue: WorkQueue): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}/catch-up',
      name: 'plugins.missed',
      summary: 'See what a plugin missed while it was off, and how far it has caught up',
      scope: 'plugins:read',
      also: seeing,
      limit: 'read',
      params,
      responses: { 200: CatchUpShown },
      read: (ctx, { params }) => showCatchUp(ctx, params.id),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins/{id}/catch-up',
      name: 'plugins.catch-up',
      summary: 'Run a plugin on what it missed while it was off',
      description:
        'Makes a run for each event that its subscriptions want, of the time it was off, and runs again what was given up in that time. An event that it has met is not run twice. It goes on after the answer: read this address until it is `done`.',
      scope: 'plugins:write',
      also: steering,
      limit: 'write',
      params,
      errors: ['conflict'],
      responses: { 202: CatchUpShown },
      write: (ctx, { params }) => catchUp(ctx, params.id, queue),
    }),
  ];
}
