// Requests, reads and ends backtests, gates and shadows.
import type { Static } from 'typebox';
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import { cursorOf, type PageParameters } from '../../../kernel/changes/list.ts';
import { isoTime, requireVersion } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import { firstSequenceSince, lastSequence } from '../../../kernel/events/log/log.ts';
import { effectTable } from '../../../kernel/rights/effects.ts';
import { ApiError, invalidField, notFound } from '../../../platform/lib/errors/errors.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { limitDefault } from '../../../platform/lib/schema.ts';
import { dayMs, readTime } from '../../../platform/lib/time/time.ts';
import { readPage } from '../../../platform/store/page.ts';
import type { Scope } from '../../../platform/store/store.ts';
import { plugin } from '../installs/contract.ts';
import { getInstall } from '../installs/installs.ts';
import type { Install } from '../installs/model.ts';
import type { Backtests } from './backtests.ts';
import type { EventWindow } from './engine.ts';
import {
  backtestColumns,
  beginShadowOp,
  endBacktestOp,
  findBacktest,
  findShadow,
  insertBacktestOp,
  openBacktests,
  runningShadows,
  stopShadowOp,
  type BacktestRequest,
  type BacktestRow,
  type RequestedCode,
  type ShadowRow,
} from './rows.ts';
import {
  emptyReport,
  type BacktestCreate,
  type GateCreate,
  type PluginBacktest,
  type ShadowCreate,
  type ShadowReport,
} from './schema.ts';
import type { ShadowWork } from './shadows.ts';
import { installedVersion, requestedVersion, type VersionRules } from './versions.ts';

const eventsMax = 10_000;
const daysDefault = 30;
const runsDefault = 20;
/** Limit of open backtests in a workspace. */
const openMax = 10;
/** Limit of running shadows in a workspace. */
const shadowsMax = 10;

export interface TrialRules extends VersionRules {
  readonly backtests: Backtests;
  readonly shadows: ShadowWork;
  source(scope: Scope, sha256: string): Promise<string>;
}

type WindowInput = Omit<Static<typeof BacktestCreate>, 'package'>;

/**
 * Backtests a package, which need not be installed.
 * @throws ApiError validation_failed, forbidden, conflict
 */
export async function backtestPackage(
  ctx: Context,
  body: Static<typeof BacktestCreate>,
  rules: TrialRules,
): Promise<ChangeSet> {
  const versions = [await requestedVersion(ctx, body, undefined, rules)];
  return queued(ctx, { install: null, versions, runs: null, window: await windowOf(ctx, body) }, rules);
}

/**
 * Backtests the installed version, or another version of the same plugin.
 * @throws ApiError not_found, validation_failed, forbidden, conflict
 */
export async function backtestPlugin(
  ctx: Context,
  pluginId: string,
  body: Static<typeof PluginBacktest>,
  rules: TrialRules,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  const version = body.package
    ? await requestedVersion(ctx, { ...body, package: body.package }, install, rules)
    : await installedVersion(ctx, install, rules.source, body.settings);
  const window = await windowOf(ctx, body);
  return queued(ctx, { install, versions: [version], runs: null, window }, rules);
}

/**
 * Compares another version with the installed one.
 * @throws ApiError not_found, validation_failed, forbidden, conflict
 */
export async function gatePlugin(
  ctx: Context,
  pluginId: string,
  body: Static<typeof GateCreate>,
  rules: TrialRules,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  const next = await requestedVersion(ctx, body, install, rules);
  const versions = [await installedVersion(ctx, install, rules.source), next];
  const [runs, window] = [body.runs ?? runsDefault, await windowOf(ctx, {})];
  return queued(ctx, { install, versions, runs, window }, rules);
}

/** @throws ApiError validation_failed */
export async function windowOf(ctx: Context, { since, until, events }: WindowInput): Promise<EventWindow> {
  const now = ctx.nowMs();
  const untilMs = Math.min(until === undefined ? now : readTime(until, 'until'), now);
  const sinceMs = since === undefined ? untilMs - daysDefault * dayMs : readTime(since, 'since');
  if (sinceMs >= untilMs)
    throw invalidField('since', 'too_big', {
      why: '`since` must be before `until`.',
      fix: 'Use an earlier `since`.',
    });
  const end = await lastSequence(ctx.store, ctx.scope);
  const [first, behind] = [
    await firstSequenceSince(ctx.store, ctx.scope, sinceMs, end),
    await firstSequenceSince(ctx.store, ctx.scope, untilMs + 1, end),
  ];
  return { sinceMs, untilMs, after: first - 1, to: behind - 1, eventsMax: events ?? eventsMax };
}

interface Queued extends Pick<RequestedCode, 'versions'>, Omit<BacktestRequest, 'grant'> {
  /** Null if the plugin is not installed. */
  readonly install: Install | null;
}

export async function queued(
  ctx: Context,
  { install, versions, runs, window }: Queued,
  { backtests }: Pick<TrialRules, 'backtests'>,
): Promise<ChangeSet> {
  const open = (await ctx.store.readOne(ctx.scope, openBacktests, {}))?.count ?? 0;
  // Backtests of rules are bounded by the number of automations.
  if (open >= openMax && !install?.rule)
    throw new ApiError('conflict', `${open} backtests are open. Wait for one to end, or cancel one.`);
  const { manifest } = versions.at(-1)!.code;
  const grant = [...new Set(versions.flatMap((version) => version.grant))];
  const request: BacktestRequest = { grant, runs, window };
  const row: BacktestRow = {
    id: ctx.ids.next(idPrefixes.backtest),
    kind: runs === null ? 'backtest' : 'gate',
    install_id: install?.id ?? null,
    plugin_id: manifest.id,
    plugin_version: manifest.version,
    status: 'queued',
    starts: 0,
    request_json: JSON.stringify(request),
    report_json: null,
    error: null,
    created_at: ctx.nowMs(),
    started_at: null,
    finished_at: null,
  };
  const code = { installId: install?.id ?? ctx.ids.next(plugin.id), versions };
  return {
    changes: [],
    ops: [
      insertBacktestOp(ctx.scope, row, code),
      backtests.queue.add(ctx.scope, row.id, row.id, row.created_at),
    ],
    body: toFullResponse(row, backtests),
    status: 202,
    location: `${ctx.baseUrl}/api/v1/backtests/${row.id}`,
  };
}

export async function listBacktests(
  ctx: Context,
  query: PageParameters & { readonly plugin?: string },
  { backtests }: TrialRules,
) {
  const { plugin: pluginId } = query;
  const { data, pageInfo } = await readPage(ctx.store, ctx.sealing, ctx.scope, {
    table: 'backtests',
    select: `${backtestColumns}, NULL AS report_json`,
    where: pluginId === undefined ? [] : [{ sql: 'plugin_id = :pluginId', params: { pluginId } }],
    order: [{ sql: 'created_at', direction: 'desc' }],
    limit: query.limit ?? limitDefault,
    after: cursorOf(query),
    parameters: { plugin: pluginId },
  });
  return { data: data.map((row) => toBacktestResponse(row as unknown as BacktestRow, backtests)), pageInfo };
}

/** @throws ApiError not_found */
export async function getBacktest(ctx: Context, id: string, { backtests }: TrialRules) {
  return toFullResponse(await rowOf(ctx, id), backtests);
}

/** @throws ApiError not_found; conflict if the backtest has ended */
export async function cancelBacktest(
  ctx: Context,
  id: string,
  { backtests }: TrialRules,
): Promise<ChangeSet> {
  const row = await rowOf(ctx, id);
  if (row.finished_at !== null)
    throw new ApiError(
      'conflict',
      `This backtest has already ended with status ${row.status}. Cancel only backtests that have not ended.`,
    );
  const now = ctx.nowMs();
  return {
    changes: [],
    ops: [endBacktestOp(ctx.scope, id, { status: 'canceled', now }), backtests.queue.remove(ctx.scope, id)],
    afterCommit: () => backtests.cancel(id),
    body: toFullResponse({ ...row, status: 'canceled', finished_at: now }, { progress: () => null }),
  };
}

/** Returns the grant of a backtest, whose read scopes are required to read its report. */
export async function grantOf(ctx: Context, id: string): Promise<readonly string[]> {
  const row = await ctx.store.readOne(ctx.scope, findBacktest, { id });
  return row ? (JSON.parse(row.request_json) as BacktestRequest).grant : [];
}

async function rowOf(ctx: Context, id: string): Promise<BacktestRow> {
  const row = await ctx.store.readOne(ctx.scope, findBacktest, { id });
  if (!row) throw notFound();
  return row;
}

type Progressing = Pick<Backtests, 'progress'>;

function toBacktestResponse(row: BacktestRow, { progress }: Progressing) {
  const isOpen = row.finished_at === null;
  return {
    id: row.id,
    kind: row.kind,
    pluginId: row.install_id,
    plugin: row.plugin_id,
    pluginVersion: row.plugin_version,
    scopes: (JSON.parse(row.request_json) as BacktestRequest).grant,
    status: row.status,
    progress: isOpen ? progress(row.id) : null,
    error: row.error,
    createdAt: isoTime(row.created_at),
    startedAt: isoTime(row.started_at),
    finishedAt: isoTime(row.finished_at),
  };
}

function toFullResponse(row: BacktestRow, work: Progressing) {
  const report: unknown = row.report_json === null ? null : JSON.parse(row.report_json);
  const isGate = row.kind === 'gate';
  return { ...toBacktestResponse(row, work), report: isGate ? null : report, gate: isGate ? report : null };
}

/** @throws ApiError not_found, validation_failed, forbidden, conflict */
export async function beginShadow(
  ctx: Context,
  pluginId: string,
  body: Static<typeof ShadowCreate>,
  rules: TrialRules,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  const version = await requestedVersion(ctx, body, install, rules);
  const before = await shadowOf(ctx, install.id);
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
export async function getShadow(ctx: Context, pluginId: string, { shadows }: TrialRules) {
  const install = await getInstall(ctx, pluginId);
  const row = await shadowOf(ctx, install.id);
  if (!row) throw noShadow(install);
  const seen = row.stopped_at === null ? shadows.seen(install.id) : null;
  const whole = seen ?? { waiting: 0, report: JSON.parse(row.report_json) as ShadowReport };
  if (ctx.scopes.has(effectTable.logs.scope)) return toShadowResponse(row, whole);
  return toShadowResponse(row, { ...whole, report: { ...whole.report, differences: [] } });
}

/** @throws ApiError not_found; conflict if the shadow has stopped */
export async function stopShadow(
  ctx: Context,
  pluginId: string,
  ifMatch: number | null,
  { shadows }: TrialRules,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  const row = await shadowOf(ctx, install.id);
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

function shadowOf(ctx: Context, installId: string): Promise<ShadowRow | undefined> {
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
