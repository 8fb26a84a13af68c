import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Closed, idOf } from '../../../platform/lib/schema.ts';
import { pluginRef } from '../installs/ref.ts';
import { sendingOutside } from '../installs/rights.ts';
import { RunResponse } from '../runs/schema.ts';
import { callAction, getActionRun, listActions, type ActionWork } from './actions.ts';
import { ActionCall, ActionList, handlerName } from './schema.ts';

const runId = idOf(idPrefixes.run);

/**
 * Any key can call an action, because the run has only the rights that key and plugin have in common. If the
 * plugin can send requests to other servers, the key needs `automations:write`.
 */
export function actionRoutes(work: ActionWork): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}/actions',
      name: 'plugins.actions',
      summary: 'List the actions of a plugin',
      scope: null,
      anyKey: true,
      limit: 'read',
      params: Closed({ id: pluginRef }),
      responses: { 200: ActionList },
      read: (ctx, { params }) => listActions(ctx, params.id),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins/{id}/actions/{name}',
      name: 'plugins.call-action',
      summary: 'Call an action of a plugin',
      description:
        'The run has the rights that the key and the plugin have in common. If the plugin can send requests to other servers, the key needs `automations:write`. The request waits up to 5 seconds for the run: 200 returns the ended run with its `result`; 202 returns a run in progress, available at `Location`.',
      scope: null,
      anyKey: true,
      also: sendingOutside,
      limit: 'write',
      params: Closed({ id: pluginRef, name: handlerName }),
      body: ActionCall,
      bodyBytesMax: 128 * 1024,
      example: { target: 'ENG-1', input: { dryRun: true } },
      errors: ['conflict', 'insufficient_scope', 'quota_exceeded'],
      responses: { 200: RunResponse, 202: RunResponse },
      write: (ctx, { params, body }) => callAction(ctx, params.id, params.name, body, work),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}/actions/{name}/runs/{run}',
      name: 'plugins.action-run',
      summary: 'Get a run of an action called by this key',
      scope: null,
      anyKey: true,
      limit: 'read',
      params: Closed({ id: pluginRef, name: handlerName, run: runId }),
      responses: { 200: RunResponse },
      read: (ctx, { params }) => getActionRun(ctx, params.run, work),
    }),
  ];
}
