import { Type } from 'typebox';
import { defineRoute, type Route } from '../../http/route.ts';
import { idPrefixes } from '../../lib/ids.ts';
import { Closed, idOf, pageOf, pageQuery } from '../../lib/schema.ts';
import { pluginRef } from '../installs/ref.ts';
import { pluginVisibility, runVisibility, steering } from '../installs/rights.ts';
import { cancelRun, type CancelWork } from './cancel.ts';
import { getRun, listRuns, runSchedule } from './runs.ts';
import { RunResponse, runStatus } from './schema.ts';

const scheduleName = Type.String({
  pattern: '^[a-z][a-zA-Z0-9-]{0,39}$',
  description: 'Name of a schedule in the manifest.',
});

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
        'The run becomes `dead` with the error `canceled`, and no further attempt is made. An attempt in progress is aborted without effects.',
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
