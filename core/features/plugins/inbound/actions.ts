// Routes to call an action of a plugin with the rights that caller and plugin have in common, and to wait
// for the result.
import { Type, type Static } from 'typebox';
import { Closed, enumeration, namedSchema, nullable, idOf } from '../../../platform/lib/schema.ts';
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import type { Actor } from '../../../kernel/events/event.ts';
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import type { App } from '../../../kernel/http/app.ts';
import { ApiError, invalidField, notFound } from '../../../platform/lib/errors/errors.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { effectTable } from '../../../kernel/rights/effects.ts';
import { commonRights } from '../../../kernel/rights/rights.ts';
import { declared, rightsOfInstall } from '../installs/manifest.ts';
import { getInstall } from '../installs/installs.ts';
import { requireActive } from '../installs/mode.ts';
import type { Usage } from '../budgets/usage.ts';
import { requireBudget } from '../budgets/waits.ts';
import type { Install } from '../installs/model.ts';
import { isRuleId } from '../../automations/contract.ts';
import { inputOfAction } from '../installs/settings.ts';
import { hostGatewayOf, principalOf, type HostGateway } from '../host-calls/gateway.ts';
import type { RunEnds } from './answer.ts';
import { callerOf, inputOf, type RunInput } from '../runs/job.ts';
import { findRun, queuedRow, uncausedRun, type NewRun, type RunRow } from '../runs/rows.ts';
import { showRun } from '../runs/runs.ts';
import { isOpen, queueRunOps } from '../runs/state.ts';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { pluginRef, sendingOutside } from '../installs/rights.ts';
import { RunResponse } from '../runs/schema.ts';

export const handlerName = Type.String({
  pattern: '^[a-z][a-zA-Z0-9-]{0,39}$',
  description: 'Name of the handler in the manifest.',
});

const ActionResponse = namedSchema(
  'PluginAction',
  Closed({
    name: handlerName,
    target: enumeration('ActionTarget', ['issue', 'project', 'none'], 'Type of the target.'),
    title: Type.String({ description: 'Display name of the action; default its `name`.' }),
    description: Type.String({
      description: 'Description by the author of the plugin; empty if there is none.',
    }),
    input: nullable(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'JSON Schema of the input; null if the action takes none.',
      }),
    ),
  }),
);
const ActionList = namedSchema(
  'PluginActionList',
  Closed({ data: Type.Array(ActionResponse, { description: 'All actions, in the order of the manifest.' }) }),
);
const ActionCall = namedSchema(
  'PluginActionCall',
  Closed({
    target: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 80,
        description: 'Id of the target issue (or its identifier, such as `ENG-1`) or project.',
      }),
    ),
    input: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        maxProperties: 100,
        description: 'Input of the action, valid under its schema.',
      }),
    ),
  }),
);

const waitMs = 5_000;

export interface ActionWork {
  readonly app: () => App;
  readonly queue: WorkQueue;
  readonly ends: RunEnds;
  isActive(runId: string): boolean;
  readonly usage: Usage;
}

async function listActions(ctx: Context, ref: string) {
  const { manifest } = await getInstall(ctx, ref);
  const data = Object.entries(manifest.actions ?? {}).map(
    ([name, { target, title, description, input }]) => ({
      name,
      target,
      title: title ?? name,
      description: description ?? '',
      input: input ?? null,
    }),
  );
  return { data };
}

/**
 * @throws ApiError not_found, conflict if the plugin is not active, quota_exceeded if its budget is exhausted, validation_failed,
 * insufficient_scope
 */
async function callAction(
  ctx: Context,
  ref: string,
  name: string,
  callInput: Static<typeof ActionCall>,
  work: ActionWork,
): Promise<ChangeSet> {
  return callActionOf(ctx, await getInstall(ctx, ref), name, callInput, work);
}

/** Calls an action of an install, or of the plugin that runs an automation. */
export async function callActionOf(
  ctx: Context,
  install: Install,
  name: string,
  callInput: Static<typeof ActionCall>,
  work: ActionWork,
): Promise<ChangeSet> {
  const action = declared(install.manifest.actions, name);
  if (!action) throw noSuchAction(install, name);
  requireActive(install);
  await requireBudget(ctx, install, work.usage);
  const input = inputOfAction(action, callInput.input);
  const target = await targetOf(ctx, install, action.target, callInput.target, work);
  const now = ctx.nowMs();
  const runInput: RunInput = {
    event: { action: name, target, input, caller: ctx.actor },
    caller: callerOf(ctx),
  };
  const run = runOf(ctx, install, name, runInput);
  const row = queuedRow(run, now);
  return {
    changes: [],
    ops: queueRunOps(work.queue, ctx.scope, run, now),
    body: toCallerResponse(ctx, row, work),
    status: 202,
    location: install.rule
      ? `${ctx.baseUrl}/api/v1/runs/${run.id}`
      : `${ctx.baseUrl}/api/v1/plugins/${install.id}/actions/${name}/runs/${run.id}`,
    async completed() {
      await work.ends.wait(ctx.scope, run.id, waitMs);
      const ended = await findRun(ctx.store, ctx.scope, run.id);
      if (!ended) return null;
      return { body: toCallerResponse(ctx, ended, work), status: isOpen(ended) ? 202 : 200 };
    },
  };
}

/** Any key can list the actions, so the message can name them. */
function noSuchAction({ pluginId, manifest }: Install, name: string): ApiError {
  const names = Object.keys(manifest.actions ?? {});
  const there = names.length > 0 ? `its actions are ${names.join(', ')}` : 'it has no actions';
  return new ApiError('not_found', `${pluginId} has no action ${name}; ${there}.`);
}

/** Returns a run that the same caller started. @throws ApiError not_found */
async function getActionRun(ctx: Context, id: string, work: ActionWork) {
  const row = await findRun(ctx.store, ctx.scope, id);
  const caller = row && inputOf(row)?.caller;
  if (!row || row.handler_kind !== 'action' || !caller || !isSameCaller(caller.actor, ctx.actor))
    throw notFound();
  return toCallerResponse(ctx, row, work);
}

/** All members who use an app share the id of its actor, so the member must match as well. */
function isSameCaller(one: Actor, other: Actor): boolean {
  return one.id === other.id && one.memberId === other.memberId;
}

/**
 * Omits the logs if the caller lacks the scope to read them, because logs can hold data from other servers.
 * The result is always included.
 */
function toCallerResponse({ scopes }: Context, row: RunRow, work: ActionWork) {
  const response = showRun(row, work);
  const { scope } = effectTable.logs;
  return scopes.has(scope) ? response : { ...response, logs: [], leftOut: [scope] };
}

function runOf(ctx: Context, install: Install, name: string, input: RunInput): NewRun {
  const run = uncausedRun(ctx.ids.next(idPrefixes.run), install, { kind: 'action', name }, ctx.nowMs());
  return { ...run, inputJson: JSON.stringify(input) };
}

const gateways = new WeakMap<App, HostGateway>();

/**
 * Reads the target through the API with the rights that caller and plugin have in common.
 * @param at path of the target in the request
 */
export async function targetOf(
  ctx: Context,
  install: Install,
  kind: 'issue' | 'project' | 'none',
  id: string | undefined,
  work: Pick<ActionWork, 'app'>,
  at = 'target',
): Promise<unknown> {
  if (kind === 'none') {
    if (id !== undefined)
      throw invalidField(at, 'unknown_field', {
        why: 'The action has no target.',
        fix: 'Remove `target`.',
      });
    return null;
  }
  if (id === undefined)
    throw invalidField(at, 'required', {
      why: `The action needs ${kind === 'issue' ? 'an issue' : 'a project'} as its target.`,
      fix: 'Add `target` with its id.',
    });
  const app = work.app();
  const gateway = gateways.get(app) ?? hostGatewayOf(app);
  gateways.set(app, gateway);
  const principal = {
    ...principalOf(ctx.scope, install),
    ...commonRights(rightsOfInstall(install), ctx),
  };
  const outcome = await gateway.call(app.route(`${kind}s.get`), {
    params: { id },
    principal,
    isCounted: false,
  });
  if (!outcome.error) return JSON.parse(outcome.body) as unknown;
  if (outcome.error.code === 'not_found')
    throw invalidField(at, 'not_found', {
      why: `The ${kind} ${id} does not exist, or is not visible to both you and the ${isRuleId(install.id) ? 'automation' : 'plugin'}.`,
      fix: 'Use another id.',
    });
  throw new ApiError(outcome.error.code, outcome.error.message);
}

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
