// Routes to start, read and stop the shadow of a plugin.
import type { Static } from 'typebox';
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import { isoTime, requireVersion } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { effectTable } from '../../../kernel/rights/effects.ts';
import { requestedVersion, type TrialRules } from '../backtests/backtests.ts';
import { getInstall } from '../installs/installs.ts';
import type { Install } from '../installs/model.ts';
import {
  emptyReport,
  ShadowCreate,
  type ShadowReport,
  ShadowResponse,
  beginShadowOp,
  findShadow,
  runningShadows,
  stopShadowOp,
  type ShadowRow,
} from './rows.ts';
import type { ShadowWork } from './work.ts';
import { packageFormat } from '../../../../sdk/plugin/manifest.ts';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { Closed } from '../../../platform/lib/schema.ts';
import { pluginRef, pluginVisibility, steering } from '../installs/rights.ts';

/** Limit of running shadows in a workspace. */
const shadowsMax = 10;

interface ShadowRules extends TrialRules {
  readonly shadows: ShadowWork;
}

/** @throws ApiError not_found, validation_failed, forbidden, conflict */
async function beginShadow(
  ctx: Context,
  pluginId: string,
  body: Static<typeof ShadowCreate>,
  rules: ShadowRules,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  const version = await requestedVersion(ctx, body, install, rules);
  const before = await rowOf(ctx, install.id);
  if (before && before.stopped_at === null)
    throw new ApiError(
      'conflict',
      `Version ${before.plugin_version} already runs as the shadow of this plugin. Stop it first.`,
    );
  const running = (await ctx.store.readOne(ctx.scope, runningShadows, {}))?.count ?? 0;
  if (running >= shadowsMax)
    throw new ApiError('conflict', `${running} shadows are running. Stop one of them first.`);
  const row: ShadowRow = {
    workspace_id: ctx.workspaceId,
    install_id: install.id,
    plugin_version: version.code.manifest.version,
    installed_sha256: install.sha256,
    stopped_by: null,
    report_json: JSON.stringify(emptyReport),
    started_at: ctx.nowMs(),
    stopped_at: null,
  };
  return {
    changes: [],
    ops: [beginShadowOp(ctx.scope, row, version)],
    afterCommit: () => rules.shadows.begin(row, version),
    body: toShadowResponse(row, { waiting: 0, report: emptyReport }),
    status: 201,
    location: `${ctx.baseUrl}/api/v1/plugins/${install.id}/shadow`,
  };
}

/** @throws ApiError not_found */
async function getShadow(ctx: Context, pluginId: string, { shadows }: ShadowRules) {
  const install = await getInstall(ctx, pluginId);
  const row = await rowOf(ctx, install.id);
  if (!row) throw noShadow(install);
  const seen = row.stopped_at === null ? shadows.seen(install.id) : null;
  const whole = seen ?? { waiting: 0, report: JSON.parse(row.report_json) as ShadowReport };
  if (ctx.scopes.has(effectTable.logs.scope)) return toShadowResponse(row, whole);
  return toShadowResponse(row, { ...whole, report: { ...whole.report, differences: [] } });
}

/** @throws ApiError not_found; conflict if the shadow has stopped */
async function stopShadow(
  ctx: Context,
  pluginId: string,
  ifMatch: number | null,
  { shadows }: ShadowRules,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  const row = await rowOf(ctx, install.id);
  if (!row) throw noShadow(install);
  requireVersion({ id: install.id, version: row.started_at }, ifMatch);
  if (row.stopped_at !== null)
    throw new ApiError('conflict', 'The shadow has already stopped. Start another one to compare versions.');
  const report = shadows.seen(install.id)?.report ?? null;
  return {
    changes: [],
    ops: [stopShadowOp(ctx.scope, install.id, { by: 'asked', now: ctx.nowMs(), report })],
    afterCommit: () => shadows.stop(install.id),
    body: null,
    status: 204,
  };
}

function noShadow({ pluginId }: Install): ApiError {
  return new ApiError('not_found', `${pluginId} has no shadow. Start one first.`);
}

function rowOf(ctx: Context, installId: string): Promise<ShadowRow | undefined> {
  return ctx.store.readOne(ctx.scope, findShadow, { installId });
}

function toShadowResponse(row: ShadowRow, seen: { readonly waiting: number; readonly report: ShadowReport }) {
  return {
    pluginId: row.install_id,
    pluginVersion: row.plugin_version,
    isRunning: row.stopped_at === null,
    stoppedBy: row.stopped_by,
    ...seen,
    startedAt: isoTime(row.started_at),
    stoppedAt: isoTime(row.stopped_at),
  };
}

const packageBytesMax = 6 * 1024 * 1024;
const path = '/api/v1/plugins/{id}/shadow';
const params = Closed({ id: pluginRef });

export function shadowRoutes(rules: ShadowRules): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path,
      name: 'plugins.begin-shadow',
      summary: 'Run another version of a plugin as a shadow',
      description:
        'The shadow runs on each event that the installed version has run on, with at most the same grant. It writes and sends nothing; its effects are compared with those of the installed version.',
      scope: 'plugins:write',
      also: steering,
      limit: 'write',
      params,
      body: ShadowCreate,
      bodyBytesMax: packageBytesMax,
      example: { package: { format: packageFormat } },
      errors: ['conflict'],
      responses: { 201: ShadowResponse },
      write: (ctx, { params, body }) => beginShadow(ctx, params.id, body, rules),
    }),
    defineRoute({
      method: 'GET',
      path,
      name: 'plugins.shadow',
      summary: 'Get the present or last shadow of a plugin',
      scope: 'plugins:read',
      also: pluginVisibility,
      limit: 'read',
      params,
      responses: { 200: ShadowResponse },
      read: (ctx, { params }) => getShadow(ctx, params.id, rules),
    }),
    defineRoute({
      method: 'DELETE',
      path,
      name: 'plugins.stop-shadow',
      summary: 'Stop the shadow of a plugin',
      description: 'The report remains available until another shadow starts.',
      scope: 'plugins:write',
      limit: 'write',
      params,
      errors: ['conflict'],
      responses: { 204: null },
      write: (ctx, { params, ifMatch }) => stopShadow(ctx, params.id, ifMatch, rules),
    }),
  ];
}
