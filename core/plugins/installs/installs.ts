// Installs, changes and removes plugins. What a plugin may do is what the installer granted, never more than they hold.
import type { Static } from 'typebox';
import type { PluginManifest, PluginPackage } from '../../../sdk/plugin/manifest.ts';
import type { ChangeSet } from '../../changes/change.ts';
import { listKind, notDeleted, type PageParameters } from '../../changes/list.ts';
import { removed, requireVersion, updated } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { ApiError, notFound } from '../../lib/errors.ts';
import type { CheckFilter } from '../../resource/filtering.ts';
import { tenantStatement, type Row } from '../../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../store/store.ts';
import { checkNet, type NetRules } from '../outside/net.ts';
import { wakeWaitingOp } from '../runs/waiting.ts';
import { followedSecrets } from '../secrets/followed.ts';
import { dropSecretOp, dropSecretsOp } from '../secrets/rows.ts';
import { checkGrant, checkManifest, readPackage, type PackageRules } from './check.ts';
import { plugin } from './contract.ts';
import { unheardReason } from './hearing.ts';
import { requireNamed } from './named.ts';
import { installKind, type Install, type InstallCreate, type InstallUpdate } from './schema.ts';
import { checkSettings } from './settings.ts';

const byPluginId = tenantStatement<Row>(
  'plugins.by_plugin_id',
  `SELECT ${installKind.select} FROM plugins WHERE workspace_id = :ws AND plugin_id = :pluginId AND deleted_at IS NULL`,
);
const keepCode = tenantStatement(
  'plugin_code.keep',
  `INSERT INTO plugin_code (workspace_id, id, source, source_map) VALUES (:ws, :sha256, :source, :sourceMap)
   ON CONFLICT (workspace_id, id) DO UPDATE SET source_map = coalesce(excluded.source_map, source_map)`,
);

/** What installing needs beyond the context. */
export interface InstallRules extends PackageRules, NetRules {
  readonly checkFilter: CheckFilter;
  /** The rows that follow an install's state: its schedules, what it misses. They stand last in the batch. */
  stateOps(install: Install, ctx: Context): readonly Op[];
  /** Code was kept, perhaps with another source map than is known of it. */
  codeKept(scope: Scope, sha256: string): void;
}

export function listInstalls(ctx: Context, page: PageParameters) {
  return listKind(ctx, installKind, page, { where: [notDeleted] });
}

/** By `plg_…` or by the manifest's id. @throws ApiError not_found */
export async function getInstall(ctx: Context, idOrPluginId: string): Promise<Install> {
  const install = idOrPluginId.startsWith('plg_')
    ? await installKind.find(ctx, idOrPluginId)
    : await findByPluginId(ctx, idOrPluginId);
  if (!install || install.deletedAt !== null) throw notFound();
  return install;
}

async function findByPluginId(ctx: Context, pluginId: string): Promise<Install | undefined> {
  const row = await ctx.store.readOne(ctx.scope, byPluginId, { pluginId });
  return row && installKind.fromRow(row);
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
  const document = await readPackage(input.package);
  const { manifest, sha256 } = document;
  checkManifest(manifest, rules);
  await checkNet(manifest, rules);
  checkGrant(ctx, manifest, input.grant);
  const known = await findByPluginId(ctx, manifest.id);
  if (known && input.downgrade !== true) refuseDowngrade(known, manifest);
  await requireNamed(ctx, manifest, known, rules.checkFilter);
  const chosen = chosenFor(input, known);
  checkSettings(manifest, chosen.settings);
  const facts = {
    pluginVersion: manifest.version,
    sha256,
    manifest,
    grant: input.grant,
    ...chosen,
    state: 'active' as const,
    stateReason: unheardReason({ manifest, grant: input.grant }),
  };
  const keep = keepCodeOp(ctx, document, rules);
  if (!known) {
    const made = firstInstall(ctx, facts);
    return { ...installed(ctx, made, [keep, ...rules.stateOps(made.after, ctx)]), status: 201 };
  }
  const followed = followedSecrets(known, manifest);
  const change = installKind.update(known, { ...facts, secretsSet: followed.set }, ctx.nowMs());
  // The same code may come with a source map that was not known of it.
  if (!change) return { changes: [], ops: [keep], body: installKind.wire(known, ctx), status: 200 };
  // What waits would wait for the code that failed.
  const wake = known.sha256 === sha256 ? [] : [wakeWaitingOp(ctx.scope, known.id, ctx.nowMs())];
  const dropped = followed.dropped.map((name) => dropSecretOp(ctx.scope, known.id, name));
  return installed(ctx, change, [keep, ...wake, ...dropped, ...rules.stateOps(change.after, ctx)]);
}

/** What an upgrade keeps where nothing is said. */
function chosenFor(
  { settings, mode, modes }: Static<typeof InstallCreate>,
  known: Install | undefined,
): Pick<Install, 'settings' | 'mode' | 'modes'> {
  const before = known ?? { settings: {}, mode: 'apply', modes: {} };
  return {
    settings: settings ?? before.settings,
    mode: mode ?? before.mode,
    modes: modes ?? before.modes,
  };
}

function installed(
  ctx: Context,
  change: NonNullable<ReturnType<typeof installKind.update>>,
  ops: readonly Op[],
): ChangeSet {
  return {
    changes: [change],
    ops,
    body: installKind.wire(change.after, ctx),
    status: 200,
    location: `${ctx.baseUrl}/api/v1/plugins/${change.id}`,
  };
}

function keepCodeOp(
  { scope }: Context,
  { sha256, code, sourceMap }: PluginPackage,
  { codeKept }: Pick<InstallRules, 'codeKept'>,
): Op {
  const map = sourceMap ? JSON.stringify(sourceMap) : null;
  const taken = (): void => codeKept(scope, sha256);
  return tenantOp(scope, keepCode, { sha256, source: code, sourceMap: map }, { taken });
}

function refuseDowngrade({ pluginVersion }: Install, manifest: PluginManifest): void {
  if (Bun.semver.order(manifest.version, pluginVersion) < 0)
    throw new ApiError(
      'conflict',
      `Version ${pluginVersion} is installed, which is newer. Set "downgrade": true to go back.`,
    );
}

type InstallFacts = Pick<
  Install,
  'pluginVersion' | 'sha256' | 'manifest' | 'grant' | 'settings' | 'mode' | 'modes' | 'state' | 'stateReason'
>;

function firstInstall(ctx: Context, facts: InstallFacts) {
  const now = ctx.nowMs();
  return installKind.create({
    id: ctx.ids.next(plugin.id),
    pluginId: facts.manifest.id,
    ...facts,
    secretsSet: {},
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
  const set = updated(ctx, installKind, install, { ...patch, ...reasonAfter(install, patch) }, ifMatch);
  const [change] = set.changes;
  return change && patch.state ? { ...set, ops: rules.stateOps(change.after as Install, ctx) } : set;
}

/** While an install is active, its reason says what it is not granted to hear; else it says what switched the install off. */
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
  if (!change) return set;
  const install = change.after as Install;
  return { ...set, ops: [dropSecretsOp(ctx.scope, install.id), ...rules.stateOps(install, ctx)] };
}
