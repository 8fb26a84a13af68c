// Installs, changes and removes plugins. What a plugin may do is what the installer granted, never more than they hold.
import type { Static } from 'typebox';
import { PackageError, parsePackage, type PluginManifest } from '../../../sdk/plugin/manifest.ts';
import type { ChangeSet } from '../../changes/change.ts';
import { listKind, notDeleted, type PageParameters } from '../../changes/list.ts';
import { removed, requireVersion, updated } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { allScopes, expandScopes } from '../../rights/scopes.ts';
import { ApiError, invalidField, notFound } from '../../lib/errors.ts';
import { parseFilter, type FilterFields } from '../../lib/filter.ts';
import { scopeOfEvent, type ScopeRequests } from '../../rights/rights.ts';
import type { Unheld } from '../../rights/table.ts';
import { tenantStatement, type Row } from '../../store/statement.ts';
import { tenantOp, type Op } from '../../store/store.ts';
import { checkCron } from '../cron.ts';
import { subscribedTypes, unheardReason } from './hearing.ts';
import { installKind, type Install, type InstallCreate, type InstallUpdate } from './schema.ts';
import { settle } from './settings.ts';

const byPluginId = tenantStatement<Row>(
  'plugins.by_plugin_id',
  `SELECT ${installKind.select} FROM plugins WHERE workspace_id = :ws AND plugin_id = :pluginId AND deleted_at IS NULL`,
);
const keepCode = tenantStatement(
  'plugin_code.keep',
  'INSERT OR IGNORE INTO plugin_code (workspace_id, id, source) VALUES (:ws, :sha256, :source)',
);

/** What installing needs beyond the context. */
export interface InstallRules {
  /** The fields that a subscription to an event type can be filtered by. */
  filterFields(eventType: string): FilterFields;
  /** The first narrowing that a door could not hold. */
  unheldNarrowing(requests: ScopeRequests): Unheld | null;
  /** The rows that follow an install's state: its schedules, what it misses. To stand last in the batch. */
  stateOps(install: Install, ctx: Context): readonly Op[];
  /** Semantic version of this server, for `engines`. */
  readonly serverVersion: string;
}

export function listInstalls(ctx: Context, page: PageParameters) {
  return listKind(ctx, installKind, page, { where: [notDeleted] });
}

/** By `plg_…` or by the manifest's id. @throws ApiError not_found */
export async function getInstall(ctx: Context, idOrPluginId: string): Promise<Install> {
  const row = idOrPluginId.startsWith('plg_')
    ? undefined
    : await ctx.store.readOne(ctx.scope, byPluginId, { pluginId: idOrPluginId });
  const install = idOrPluginId.startsWith('plg_')
    ? await installKind.find(ctx, idOrPluginId)
    : row && installKind.fromRow(row);
  if (!install || install.deletedAt !== null) throw notFound();
  return install;
}

export async function showInstall(ctx: Context, idOrPluginId: string) {
  return installKind.wire(await getInstall(ctx, idOrPluginId), ctx);
}

/** Installing a plugin that is installed already upgrades it; scopes stay as granted now. */
export async function installPlugin(
  ctx: Context,
  input: Static<typeof InstallCreate>,
  rules: InstallRules,
): Promise<ChangeSet> {
  const { manifest, code, sha256 } = await readPackage(input.package);
  checkManifest(manifest, rules);
  checkGrant(ctx, manifest, input.grant);
  const row = await ctx.store.readOne(ctx.scope, byPluginId, { pluginId: manifest.id });
  const known = row && installKind.fromRow(row);
  const now = ctx.nowMs();
  const facts = {
    pluginVersion: manifest.version,
    sha256,
    manifest,
    grant: input.grant,
    settings: settle(manifest.settings, input.settings ?? known?.settings ?? {}),
    mode: input.mode ?? known?.mode ?? ('apply' as const),
    state: 'active' as const,
    stateReason: unheardReason({ manifest, grant: input.grant }),
  };
  if (known && Bun.semver.order(manifest.version, known.pluginVersion) < 0 && input.downgrade !== true)
    throw new ApiError(
      'conflict',
      `Version ${known.pluginVersion} is installed, which is newer. Set "downgrade": true to go back.`,
    );
  const change = known
    ? installKind.update(known, facts, now)
    : installKind.create({
        id: ctx.ids.next('install'),
        pluginId: manifest.id,
        ...facts,
        sinceSequence: 0,
        createdAt: now,
        updatedAt: now,
        deletedAt: null,
      });
  if (!change) return { changes: [], body: installKind.wire(known!, ctx), status: 200 };
  return {
    changes: [change],
    ops: [tenantOp(ctx.scope, keepCode, { sha256, source: code }), ...rules.stateOps(change.after, ctx)],
    body: installKind.wire(change.after, ctx),
    status: known ? 200 : 201,
    location: `${ctx.baseUrl}/api/v1/plugins/${change.id}`,
  };
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
  const set = updated(
    ctx,
    installKind,
    install,
    {
      ...patch,
      ...(patch.settings ? { settings: settle(install.manifest.settings, patch.settings) } : {}),
      ...reasonAfter(install, patch),
    },
    ifMatch,
  );
  const [change] = set.changes;
  return change && patch.state ? { ...set, ops: rules.stateOps(change.after as Install, ctx) } : set;
}

/** A grant is told of while the install is active; what switched it off goes on being told until it is switched on. */
function reasonAfter(install: Install, patch: Static<typeof InstallUpdate>): Partial<Install> {
  if (patch.state === 'paused_by_admin') return { stateReason: 'paused by an administrator' };
  const { state, grant } = { ...install, ...patch };
  return state === 'active' ? { stateReason: unheardReason({ manifest: install.manifest, grant }) } : {};
}

export async function uninstallPlugin(
  ctx: Context,
  idOrPluginId: string,
  ifMatch: number | null,
  rules: InstallRules,
): Promise<ChangeSet> {
  const set = removed(ctx, installKind, await getInstall(ctx, idOrPluginId), ifMatch);
  const [change] = set.changes;
  return change ? { ...set, ops: rules.stateOps(change.after as Install, ctx) } : set;
}

async function readPackage(document: object) {
  try {
    return await parsePackage(JSON.stringify(document));
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    throw invalidField(`package${error.path.replaceAll('/', '.')}`, 'invalid_format', error.message);
  }
}

function checkManifest(manifest: PluginManifest, rules: InstallRules): void {
  if (manifest.engines.tatami !== '*' && !Bun.semver.satisfies(rules.serverVersion, manifest.engines.tatami))
    throw invalidField(
      'package.manifest.engines.tatami',
      'conflict',
      `The plugin wants Tatami ${manifest.engines.tatami}; this is ${rules.serverVersion}.`,
    );
  const { scopes = {} } = manifest;
  const unknown = Object.keys(scopes).find((scope) => !allScopes.includes(scope));
  if (unknown !== undefined)
    throw invalidField(`package.manifest.scopes.${unknown}`, 'invalid_enum', `There is no scope ${unknown}.`);
  const unheld = rules.unheldNarrowing(scopes);
  if (unheld) throw invalidField(`package.manifest.scopes.${unheld.path}`, 'conflict', unheld.fix);
  const asked = expandScopes(Object.keys(scopes));
  for (const type of subscribedTypes({ manifest }))
    if (!asked.has(scopeOfEvent(type)))
      throw invalidField(
        `package.manifest.on.${type}`,
        'required',
        `A plugin that hears of ${type} reads it: add "${scopeOfEvent(type)}": { why: … } to its scopes.`,
      );
  for (const [type, { filter }] of Object.entries(manifest.on ?? {}))
    if (filter) parseFilter(filter, rules.filterFields(type), `package.manifest.on.${type}.filter`);
  for (const [name, { cron, tz }] of Object.entries(manifest.schedules ?? {})) {
    const wrong = checkCron(cron, tz);
    if (wrong) throw invalidField(`package.manifest.schedules.${name}`, 'invalid_format', wrong);
  }
}

function checkGrant(ctx: Context, manifest: PluginManifest, grant: readonly string[]): void {
  const asked = Object.keys(manifest.scopes ?? {});
  for (const [index, scope] of grant.entries())
    if (!asked.includes(scope))
      throw invalidField(
        `grant.${index}`,
        'not_found',
        `The plugin does not ask for ${scope}; it asks for ${asked.join(', ') || 'nothing'}.`,
      );
  const missing = grant.filter((scope) => !ctx.scopes.has(scope));
  if (missing.length > 0)
    throw new ApiError(
      'forbidden',
      `A plugin cannot get more than its installer has: ${missing.join(', ')}.`,
    );
}
