// Installs, updates and removes plugins. An installer can grant only scopes that the installer has.
import type { Static } from 'typebox';
import type { PluginManifest, PluginPackage } from '../../../../sdk/plugin/manifest.ts';
import { sameValue, type ChangeSet } from '../../../kernel/changes/change.ts';
import { notDeleted, pageOfModel, type PageParameters } from '../../../kernel/changes/list.ts';
import { removed, requireVersion, updated } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import { ApiError, invalidField, notFound } from '../../../platform/lib/errors/errors.ts';
import type { CheckFilter } from '../../../kernel/resource/filter/filtering.ts';
import { tenantStatement, type SqlRow } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import { showSpent } from '../budgets/budget.ts';
import type { Usage } from '../budgets/usage.ts';
import { deferringBudget } from '../budgets/waits.ts';
import { unhandledOneTimeJobs } from '../schedules/one-time-jobs.ts';
import { checkNet, type NetRules } from '../http-out/rules.ts';
import { startOpenOp } from '../runs/state.ts';
import { asleepIn, followedSecrets, dropSecretOp, dropSecretsOp } from '../secrets/rows.ts';
import {
  checkGrant,
  checkManifest,
  readPackage,
  type PackageRules,
  publisherOf,
  requireSuccession,
  type PluginTrust,
} from './versions/check.ts';
import { asksMorePower, consentOf } from './versions/consent.ts';
import { plugin, type InstallModes } from './contract.ts';
import { unmatchedReason, requireReferenced } from './manifest.ts';
import { withOffered } from './versions/signature.ts';
import { installModel, type Install } from './model.ts';
import { isRuleId } from '../../automations/contract.ts';
import { findInstall } from './rules.ts';
import { probationRuns, type Modes } from './mode.ts';
import { checkSettings } from './settings.ts';
import { lastDeclared, versionOps, type StoredVersion } from './versions/versions.ts';
import { InstallCreate, InstallUpdate, InstallPreviewed } from './schema.ts';

const byPluginId = tenantStatement<SqlRow>(
  'plugins.by_plugin_id',
  `SELECT ${installModel.select} FROM plugins WHERE workspace_id = :ws AND plugin_id = :pluginId AND deleted_at IS NULL`,
);
const insertCode = tenantStatement(
  'plugin_code.store',
  `INSERT INTO plugin_code (workspace_id, id, source, source_map) VALUES (:ws, :sha256, :source, :sourceMap)
   ON CONFLICT (workspace_id, id) DO UPDATE SET source_map = coalesce(excluded.source_map, source_map)`,
);

/** Dependencies of install operations, in addition to the context. */
export interface InstallRules extends PackageRules, NetRules {
  readonly checkFilter: CheckFilter;
  readonly trust: PluginTrust;
  readonly usage: Usage;
  /** @throws ApiError validation_failed for a mode that applies to no write */
  checkModes(modes: InstallModes): void;
  /**
   * Returns the ops that update schedules, backfills and other rows to the state of an install. They must be last
   * in the batch.
   */
  stateOps(install: Install, ctx: Context): readonly Op[];
  /** Called when code is stored, perhaps with a new source map. */
  codeStored(scope: Scope, sha256: string): void;
}

/** Returns the install, with the exhausted budget that its runs wait for. */
async function toStatusResponse(ctx: Context, install: Install, usage: Usage) {
  const deferredBy = install.state === 'active' ? await deferringBudget(usage, ctx.scope, install) : null;
  return { ...installModel.toResponse(install, ctx), waitsFor: showSpent(deferredBy) };
}

export async function listInstalls(ctx: Context, page: PageParameters, { usage }: InstallRules) {
  const { data, pageInfo } = await pageOfModel(ctx, installModel, page, { where: [notDeleted] });
  return { data: await Promise.all(data.map((install) => toStatusResponse(ctx, install, usage))), pageInfo };
}

/** Finds an install by `plg_…` or by the manifest's id. @throws ApiError not_found */
export async function getInstall(ctx: Context, idOrPluginId: string): Promise<Install> {
  const install = idOrPluginId.startsWith('plg_')
    ? await installModel.find(ctx, idOrPluginId)
    : await findByPluginId(ctx, idOrPluginId);
  if (!install || install.deletedAt !== null) throw notFound();
  return install;
}

/** Finds an install or an automation, by id or by the manifest's id. @throws ApiError not_found */
export async function getRunner(ctx: Context, idOrPluginId: string): Promise<Install> {
  if (!isRuleId(idOrPluginId)) return getInstall(ctx, idOrPluginId);
  const install = await findInstall(ctx, idOrPluginId);
  if (!install || install.deletedAt !== null) throw notFound();
  return install;
}

async function findByPluginId(ctx: Context, pluginId: string): Promise<Install | undefined> {
  const row = await ctx.store.readOne(ctx.scope, byPluginId, { pluginId });
  return row && installModel.fromRow(row);
}

export async function showInstall(ctx: Context, idOrPluginId: string, { usage }: InstallRules) {
  return toStatusResponse(ctx, await getInstall(ctx, idOrPluginId), usage);
}

/** Returns the requests of a package, compared with the installed version if there is one. */
export async function previewInstall(
  ctx: Context,
  { package: requested, signature }: Static<typeof InstallPreviewed>,
  rules: InstallRules,
) {
  const document = await readPackage(requested);
  const { manifest, sha256 } = document;
  checkManifest(manifest, rules);
  const known = (await findByPluginId(ctx, manifest.id)) ?? null;
  // A preview precedes the confirmation by hash, so the package's own hash is passed as the confirmation.
  const publisher = publisherOf(rules.trust, document, { ...(signature ? { signature } : {}), sha256 });
  const unknownKey = publisher === null ? (signature?.keyId ?? null) : null;
  const unhandled = known ? await unhandledOneTimeJobs(ctx, known.id, manifest) : [];
  return {
    installed: known && { id: known.id, version: known.pluginVersion, sha256: known.sha256 },
    asked: consentOf({ manifest, sha256, publisher, unknownKey }, known, unhandled),
  };
}

/**
 * Installs a plugin, or upgrades an installed one; without `grant` an upgrade retains the granted scopes. An upgrade that requests more
 * than this request grants becomes pending, and the installed version stays active.
 */
export async function installPlugin(
  ctx: Context,
  input: Static<typeof InstallCreate>,
  rules: InstallRules,
): Promise<ChangeSet> {
  const set = await offered(ctx, input, rules);
  const [change] = set.changes;
  return change ? { ...set, location: `${ctx.baseUrl}/api/v1/plugins/${change.id}` } : set;
}

async function offered(
  ctx: Context,
  input: Static<typeof InstallCreate>,
  rules: InstallRules,
): Promise<ChangeSet> {
  const document = await readPackage(input.package);
  const { manifest, sha256 } = document;
  const publisher = publisherOf(rules.trust, document, input);
  checkManifest(manifest, rules);
  await checkNet(manifest, rules);
  const known = await findByPluginId(ctx, manifest.id);
  if (known) requireSuccession(known, document, publisher, input);
  const grant = grantOf(input, known, manifest);
  checkGrant(ctx, manifest, grant);
  await requireReferenced(ctx, manifest, known, rules.checkFilter);
  const chosen = chosenFor(input, known);
  checkSettings(manifest, chosen.settings);
  rules.checkModes(input.modes ?? {});
  const codeOp = storeCodeOp(ctx, document, rules);
  const version = { manifest, sha256, publisher };
  if (known && asksMore(known, version, input)) return waiting(ctx, known, { ...version, input }, codeOp);
  const facts = {
    ...version,
    pluginVersion: manifest.version,
    grant,
    ...chosen,
    pending: null,
  };
  if (known)
    return switched(ctx, known, { ...facts, ...probationAfter(input, known.probationLeft) }, rules, [codeOp]);
  const creation = firstInstall(ctx, facts, probationAfter(input, probationRuns));
  const ops = [codeOp, ...versionOps(ctx, null, creation.after), ...rules.stateOps(creation.after, ctx)];
  return { ...installed(ctx, creation, ops), status: 201 };
}

/** Replaces the installed version through an upgrade, a consent or a rollback. */
export async function switched(
  ctx: Context,
  known: Install,
  facts: Partial<Install> & StoredVersion,
  rules: InstallRules,
  ops: readonly Op[] = [],
): Promise<ChangeSet> {
  const running = { state: 'active' as const, stateReason: unmatchedReason(facts) };
  const asleep = await lastDeclared(ctx, known, asleepIn(known));
  const followed = followedSecrets(known, facts.manifest, asleep);
  const change = installModel.update(
    known,
    { ...facts, secretsSet: followed.set, pending: null, ...running },
    ctx.nowMs(),
  );
  // Without a change, the code is stored nevertheless, because its source map may be new.
  if (!change) return { changes: [], ops, body: installModel.toResponse(known, ctx), status: 200 };
  const isOther = known.sha256 !== facts.sha256;
  // Retries would otherwise wait for a backoff that the previous code caused.
  const wake = isOther ? [startOpenOp(ctx.scope, known.id, ctx.nowMs())] : [];
  const versionChangeOps =
    isOther || !sameValue(known.manifest, facts.manifest) ? versionOps(ctx, known, change.after) : [];
  const dropped = followed.dropped.map((name) => dropSecretOp(ctx.scope, known.id, name));
  return installed(ctx, change, [
    ...ops,
    ...versionChangeOps,
    ...wake,
    ...dropped,
    ...rules.stateOps(change.after, ctx),
  ]);
}

/** Returns the settings and modes after the request; an upgrade retains those that it omits. */
function chosenFor({ settings, mode, modes }: Static<typeof InstallCreate>, known: Install | undefined) {
  const before = known ?? { settings: {}, mode: 'apply' as const, modes: {} };
  return {
    settings: settings ?? before.settings,
    mode: mode ?? before.mode,
    modes: modes ?? before.modes,
  };
}

function grantOf(
  { grant }: Static<typeof InstallCreate>,
  known: Install | undefined,
  { scopes = {} }: PluginManifest,
): readonly string[] {
  if (grant) return grant;
  if (known) return known.grant.filter((scope) => scope in scopes);
  throw invalidField('grant', 'required', {
    why: 'The plugin is not installed yet, so the request must grant scopes.',
    fix: `List the granted scopes, out of those requested: ${Object.keys(scopes).join(', ') || 'none'}.`,
  });
}

/** A grant that includes all added scopes counts as consent to the other additions. */
function asksMore(
  known: Install,
  version: Parameters<typeof consentOf>[0],
  { grant }: Static<typeof InstallCreate>,
): boolean {
  const consent = consentOf(version, known);
  if (!grant) return asksMorePower(consent);
  return consent.scopes.some(({ scope, added }) => added && !grant.includes(scope));
}

/** Stores the upgrade as pending and changes nothing else. */
function waiting(
  ctx: Context,
  known: Install,
  { input, ...version }: Parameters<typeof consentOf>[0] & { readonly input: Static<typeof InstallCreate> },
  codeOp: Op,
): ChangeSet {
  const requested = {
    settings: input.settings ?? null,
    mode: input.mode ?? null,
    modes: input.modes ?? null,
  };
  const pending = { ...version, ...requested, since: ctx.nowMs() };
  const offered = withOffered(known.offered, version);
  const change = installModel.update(known, { pending, offered }, ctx.nowMs());
  // There is no change if the same package was sent twice within a millisecond.
  if (!change) return { changes: [], ops: [codeOp], body: installModel.toResponse(known, ctx), status: 200 };
  return installed(ctx, change, [codeOp]);
}

function probationAfter(
  { probation }: { readonly probation?: boolean | undefined },
  otherwise: number,
): { readonly probationLeft: number } {
  return { probationLeft: probation === undefined ? otherwise : probation ? probationRuns : 0 };
}

function installed(
  ctx: Context,
  change: NonNullable<ReturnType<typeof installModel.update>>,
  ops: readonly Op[],
): ChangeSet {
  return {
    changes: [change],
    ops,
    body: installModel.toResponse(change.after, ctx),
    status: 200,
  };
}

function storeCodeOp(
  { scope }: Context,
  { sha256, code, sourceMap }: PluginPackage,
  { codeStored }: InstallRules,
): Op {
  const map = sourceMap ? JSON.stringify(sourceMap) : null;
  const taken = (): void => codeStored(scope, sha256);
  return tenantOp(scope, insertCode, { sha256, source: code, sourceMap: map }, { taken });
}

function firstInstall(
  ctx: Context,
  facts: StoredVersion & Modes & { readonly pending: null },
  probation: ReturnType<typeof probationAfter>,
) {
  const now = ctx.nowMs();
  return installModel.create({
    id: ctx.ids.next(plugin.id),
    pluginId: facts.manifest.id,
    ...facts,
    ...probation,
    offered: {},
    secretsSet: {},
    state: 'active',
    stateReason: unmatchedReason(facts),
    budget: { whenSpent: 'stop' },
    sinceSequence: 0,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  });
}

export async function updateInstall(
  ctx: Context,
  idOrPluginId: string,
  patch: Static<typeof InstallUpdate>,
  ifMatch: number | null,
  rules: InstallRules,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, idOrPluginId);
  requireVersion(install, ifMatch);
  if (patch.grant) checkGrant(ctx, install.manifest, patch.grant);
  if (patch.settings) checkSettings(install.manifest, patch.settings);
  rules.checkModes(patch.modes ?? {});
  if (patch.state === 'active' && install.state === 'incompatible')
    throw new ApiError('conflict', `${install.stateReason ?? ''} Install a compatible version.`.trim());
  const { probation, budget, ...requested } = patch;
  const more = {
    ...(probation === undefined ? {} : probationAfter({ probation }, 0)),
    ...(budget ? { budget: { whenSpent: 'stop' as const, ...budget } } : {}),
  };
  const set = updated(
    ctx,
    installModel,
    install,
    { ...requested, ...more, ...reasonAfter(install, patch) },
    ifMatch,
  );
  const [change] = set.changes;
  return change && patch.state ? { ...set, ops: rules.stateOps(change.after as Install, ctx) } : set;
}

/**
 * The reason of an active install names subscriptions that it cannot read; any other reason says why the
 * install is disabled.
 */
function reasonAfter(install: Install, patch: Static<typeof InstallUpdate>): Partial<Install> {
  if (patch.state === 'paused_by_admin') return { stateReason: 'An administrator paused the plugin.' };
  const { state, grant } = { ...install, ...patch };
  return state === 'active' ? { stateReason: unmatchedReason({ manifest: install.manifest, grant }) } : {};
}

export async function uninstallPlugin(
  ctx: Context,
  idOrPluginId: string,
  ifMatch: number | null,
  rules: InstallRules,
): Promise<ChangeSet> {
  const set = removed(ctx, installModel, await getInstall(ctx, idOrPluginId), ifMatch);
  const [change] = set.changes;
  if (!change) return set;
  const install = change.after as Install;
  return { ...set, ops: [dropSecretsOp(ctx.scope, install.id), ...rules.stateOps(install, ctx)] };
}
