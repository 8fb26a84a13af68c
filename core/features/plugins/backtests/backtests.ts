// Requests, reads and cancels backtests and gates. A version never runs with scopes that the requester does
// not have.
import type { Static } from 'typebox';
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import { cursorOf, type PageParameters } from '../../../kernel/changes/list.ts';
import { isoTime } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import { firstSequenceSince, lastSequence } from '../../../kernel/events/log/log.ts';
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import { ApiError, invalidField, notFound } from '../../../platform/lib/errors/errors.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { limitDefault } from '../../../platform/lib/schema.ts';
import { dayMs, readTime } from '../../../platform/lib/time/time.ts';
import type { CheckFilter } from '../../../kernel/resource/filter/filtering.ts';
import { readPage } from '../../../platform/store/page.ts';
import type { Scope } from '../../../platform/store/store.ts';
import {
  checkManifest,
  readPackage,
  type PackageRules,
  requireSignedTrial,
  type PluginTrust,
} from '../installs/versions/check.ts';
import { plugin } from '../installs/contract.ts';
import { getInstall } from '../installs/installs.ts';
import { requireReferenced } from '../installs/manifest.ts';
import type { Install } from '../installs/model.ts';
import { checkSettings } from '../installs/settings.ts';
import type { BacktestWindow } from './engine.ts';
import {
  backtestColumns,
  endBacktestOp,
  findBacktest,
  insertBacktestOp,
  openBacktests,
  type BacktestRequest,
  type RequestedCode,
  type BacktestRow,
  type Code,
} from './rows.ts';
import type { BacktestCreate, GateCreate, PluginBacktest } from './schema.ts';
import type { BacktestWork } from './worker.ts';

const eventsMax = 10_000;
const daysDefault = 30;
const runsDefault = 20;
/** Limit of open backtests in a workspace. */
const openMax = 10;

/** Rules for a version under test. */
export interface TrialRules extends PackageRules {
  readonly checkFilter: CheckFilter;
  readonly trust: PluginTrust;
}

export interface BacktestRules extends TrialRules {
  readonly queue: WorkQueue;
  readonly work: BacktestWork;
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
  rules: BacktestRules,
): Promise<ChangeSet> {
  const version = await requestedVersion(ctx, body, undefined, rules);
  const request = { grant: version.grant, runs: null, window: await windowOf(ctx, body) };
  const code = { installId: ctx.ids.next(plugin.id), versions: [version] };
  return queued(ctx, { kind: 'backtest', install: null, request, code }, rules);
}

/**
 * Backtests the installed version, or another version of the same plugin.
 * @throws ApiError not_found, validation_failed, forbidden, conflict
 */
export async function backtestPlugin(
  ctx: Context,
  pluginId: string,
  body: Static<typeof PluginBacktest>,
  rules: BacktestRules,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  const version = body.package
    ? await requestedVersion(ctx, { ...body, package: body.package }, install, rules)
    : await versionInstalled(ctx, install, rules, body.settings);
  const request = { grant: version.grant, runs: null, window: await windowOf(ctx, body) };
  return queued(
    ctx,
    { kind: 'backtest', install, request, code: { installId: install.id, versions: [version] } },
    rules,
  );
}

/**
 * Compares another version with the installed one.
 * @throws ApiError not_found, validation_failed, forbidden, conflict
 */
export async function gatePlugin(
  ctx: Context,
  pluginId: string,
  body: Static<typeof GateCreate>,
  rules: BacktestRules,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  const next = await requestedVersion(ctx, body, install, rules);
  const versions = [await versionInstalled(ctx, install, rules), next];
  const request = {
    grant: [...new Set(versions.flatMap(({ grant }) => grant))],
    runs: body.runs ?? runsDefault,
    window: await windowOf(ctx, {}),
  };
  return queued(ctx, { kind: 'gate', install, request, code: { installId: install.id, versions } }, rules);
}

export type RequestedVersion = RequestedCode['versions'][number];

/**
 * Reads the package in a request as a version to test; with `install`, it must be of the same plugin.
 * @throws ApiError validation_failed, forbidden
 */
export async function requestedVersion(
  ctx: Context,
  body: Pick<Static<typeof GateCreate>, 'package' | 'signature' | 'settings'>,
  install: Install | undefined,
  rules: TrialRules,
): Promise<RequestedVersion> {
  const document = await readPackage(body.package);
  const { manifest, sha256, code } = document;
  requireSignedTrial(rules.trust, document, body.signature);
  if (install && manifest.id !== install.pluginId)
    throw invalidField('package.manifest.id', 'conflict', {
      why: `The package is of ${manifest.id}, but ${install.id} is an install of ${install.pluginId}.`,
      fix: 'Use a version of the same plugin.',
    });
  checkManifest(manifest, rules);
  await requireReferenced(ctx, manifest, install, rules.checkFilter);
  return versionOf(ctx, { manifest, sha256, code }, Object.keys(manifest.scopes ?? {}), {
    ...install?.settings,
    ...body.settings,
  });
}

async function versionInstalled(
  ctx: Context,
  { manifest, sha256, grant, settings }: Install,
  rules: BacktestRules,
  overrides: Readonly<Record<string, unknown>> = {},
): Promise<RequestedVersion> {
  const code = await rules.source(ctx.scope, sha256);
  return versionOf(ctx, { manifest, sha256, code }, grant, { ...settings, ...overrides });
}

function versionOf(
  ctx: Context,
  code: Code,
  wanted: readonly string[],
  settings: RequestedVersion['settings'],
): RequestedVersion {
  checkSettings(code.manifest, settings);
  return { code, grant: wanted.filter((scope) => ctx.scopes.has(scope)), settings };
}

/** @throws ApiError validation_failed */
async function windowOf(ctx: Context, { since, until, events }: WindowInput): Promise<BacktestWindow> {
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

interface Queued {
  readonly kind: BacktestRow['kind'];
  readonly install: Install | null;
  readonly request: BacktestRequest;
  readonly code: RequestedCode;
}

async function queued(
  ctx: Context,
  { kind, install, request, code }: Queued,
  { queue, work }: BacktestRules,
): Promise<ChangeSet> {
  const open = (await ctx.store.readOne(ctx.scope, openBacktests, {}))?.count ?? 0;
  if (open >= openMax)
    throw new ApiError('conflict', `${open} backtests are open. Wait for one to end, or cancel one.`);
  const { manifest } = code.versions.at(-1)!.code;
  const row: BacktestRow = {
    id: ctx.ids.next(idPrefixes.backtest),
    kind,
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
  return {
    changes: [],
    ops: [insertBacktestOp(ctx.scope, row, code), queue.add(ctx.scope, row.id, row.id, row.created_at)],
    body: toFullResponse(row, work),
    status: 202,
    location: `${ctx.baseUrl}/api/v1/backtests/${row.id}`,
  };
}

export async function listBacktests(
  ctx: Context,
  query: PageParameters & { readonly plugin?: string },
  { work }: BacktestRules,
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
  return { data: data.map((row) => toBacktestResponse(row as unknown as BacktestRow, work)), pageInfo };
}

/** @throws ApiError not_found */
export async function getBacktest(ctx: Context, id: string, { work }: BacktestRules) {
  return toFullResponse(await rowOf(ctx, id), work);
}

/** @throws ApiError not_found; conflict if the backtest has ended */
export async function cancelBacktest(ctx: Context, id: string, rules: BacktestRules): Promise<ChangeSet> {
  const row = await rowOf(ctx, id);
  if (row.finished_at !== null)
    throw new ApiError(
      'conflict',
      `This backtest has already ended with status ${row.status}. Cancel only backtests that have not ended.`,
    );
  const now = ctx.nowMs();
  return {
    changes: [],
    ops: [endBacktestOp(ctx.scope, id, { status: 'canceled', now }), rules.queue.remove(ctx.scope, id)],
    afterCommit: () => rules.work.cancel(id),
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

interface Progressing {
  readonly progress: BacktestWork['progress'];
}

function toBacktestResponse(row: BacktestRow, work: Progressing) {
  const isOpen = row.finished_at === null;
  return {
    id: row.id,
    kind: row.kind,
    pluginId: row.install_id,
    plugin: row.plugin_id,
    pluginVersion: row.plugin_version,
    scopes: (JSON.parse(row.request_json) as BacktestRequest).grant,
    status: row.status,
    progress: isOpen ? work.progress(row.id) : null,
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
