// The versions that an install has run: each is kept with its grant and its settings, so that one call goes back to it.
import { Type } from 'typebox';
import type { PluginManifest } from '../../../sdk/plugin/manifest.ts';
import { isoTime } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { idPrefixes } from '../../lib/ids.ts';
import { Closed, described, idOf, named, nullable, time } from '../../lib/schema.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp, type Op } from '../../store/store.ts';
import type { Declared } from '../secrets/followed.ts';
import { publisher } from './contract.ts';
import type { Install } from './schema.ts';

/** Of one install. */
const versionsMax = 20;

interface VersionRow {
  readonly id: string;
  readonly plugin_version: string;
  readonly sha256: string;
  readonly publisher: string | null;
  readonly manifest_json: string;
  readonly grant_json: string;
  readonly settings_json: string;
  readonly installed_at: number;
  readonly installed_by_json: string;
  readonly replaced_at: number | null;
}

const ofInstall = tenantStatement<VersionRow>(
  'plugin_versions.of_install',
  `SELECT id, plugin_version, sha256, publisher, manifest_json, grant_json, settings_json, installed_at, installed_by_json, replaced_at
   FROM plugin_versions WHERE workspace_id = :ws AND install_id = :installId ORDER BY id DESC LIMIT ${versionsMax}`,
);
const leave = tenantStatement(
  'plugin_versions.leave',
  `UPDATE plugin_versions SET grant_json = :grant, settings_json = :settings, replaced_at = :now
   WHERE workspace_id = :ws AND install_id = :installId AND replaced_at IS NULL`,
);
const enter = tenantStatement(
  'plugin_versions.enter',
  `INSERT INTO plugin_versions (workspace_id, id, install_id, plugin_version, sha256, publisher, manifest_json, grant_json, settings_json,
     installed_at, installed_by_json)
   VALUES (:ws, :id, :installId, :version, :sha256, :publisher, :manifest, :grant, :settings, :now, :by)`,
);
const forget = tenantStatement(
  'plugin_versions.forget',
  `DELETE FROM plugin_versions WHERE workspace_id = :ws AND install_id = :installId AND id NOT IN
     (SELECT id FROM plugin_versions WHERE workspace_id = :ws AND install_id = :installId ORDER BY id DESC LIMIT ${versionsMax})`,
);

/** One version takes the place of another: the grant and the settings of now stay with the one that goes. */
export function versionOps(
  { scope, ids, nowMs, actor }: Context,
  before: Install | null,
  after: Install,
): Op[] {
  const [installId, now] = [after.id, nowMs()];
  const given = ({ grant, settings }: Install) => ({
    grant: JSON.stringify(grant),
    settings: JSON.stringify(settings),
  });
  const entering = {
    installId,
    now,
    ...given(after),
    id: ids.next(idPrefixes.pluginVersion),
    version: after.pluginVersion,
    sha256: after.sha256,
    publisher: after.publisher,
    manifest: JSON.stringify(after.manifest),
    by: JSON.stringify({ kind: actor.kind, id: actor.id, name: actor.name }),
  };
  return [
    ...(before ? [tenantOp(scope, leave, { installId, now, ...given(before) })] : []),
    tenantOp(scope, enter, entering),
    ...(before ? [tenantOp(scope, forget, { installId })] : []),
  ];
}

export const VersionShown = named(
  'PluginVersion',
  Closed({
    id: idOf(idPrefixes.pluginVersion),
    version: Type.String({ description: 'The version of its package.' }),
    sha256: Type.String({ description: 'The SHA-256 of its code, in hex.' }),
    publisher,
    grant: Type.Array(Type.String(), { description: 'The scopes that it had, or was given, last.' }),
    installedAt: described(time, 'When it was installed.'),
    installedBy: Closed(
      {
        kind: Type.String({ description: 'Such as `user`.' }),
        id: Type.String({ description: 'Their id.' }),
        name: Type.String({ description: 'Their name at that time.' }),
      },
      { description: 'Who installed it, or went back to it.' },
    ),
    replacedAt: nullable(described(time, 'When another took its place; null of the one that is installed.')),
  }),
);

export async function listVersions(ctx: Context, { id }: Pick<Install, 'id'>) {
  const rows = await ctx.store.read(ctx.scope, ofInstall, { installId: id });
  return {
    data: rows.map((row) => ({
      id: row.id,
      version: row.plugin_version,
      sha256: row.sha256,
      publisher: row.publisher,
      grant: JSON.parse(row.grant_json) as string[],
      installedAt: isoTime(row.installed_at),
      installedBy: JSON.parse(row.installed_by_json) as object,
      replacedAt: isoTime(row.replaced_at),
    })),
  };
}

/** As the latest version declared them that did, of those that are kept. */
export async function lastDeclared(
  ctx: Context,
  { id }: Pick<Install, 'id'>,
  names: readonly string[],
): Promise<Declared> {
  if (names.length === 0) return {};
  const rows = await ctx.store.read(ctx.scope, ofInstall, { installId: id });
  const manifests = rows.map((row) => JSON.parse(row.manifest_json) as PluginManifest);
  return Object.fromEntries(
    names.flatMap((name) => {
      const found = manifests.find(({ secrets = {} }) => Object.hasOwn(secrets, name));
      return found ? [[name, found.secrets![name]!]] : [];
    }),
  );
}

/** What a rollback installs. */
export type KeptVersion = Pick<
  Install,
  'pluginVersion' | 'sha256' | 'publisher' | 'manifest' | 'grant' | 'settings'
>;

/** @param wanted a version, such as 1.4.2; absent: the one before. @throws ApiError conflict where there is none */
export async function findKept(
  ctx: Context,
  install: Pick<Install, 'id' | 'pluginId'>,
  wanted: string | undefined,
): Promise<KeptVersion> {
  const rows = await ctx.store.read(ctx.scope, ofInstall, { installId: install.id });
  const before = rows.filter((row) => row.replaced_at !== null);
  const row = before.find((one) => wanted === undefined || one.plugin_version === wanted);
  if (!row) {
    const there = before.map((one) => one.plugin_version).join(', ');
    throw new ApiError(
      'conflict',
      `${install.pluginId} ran no ${wanted === undefined ? 'version before this' : `version ${wanted}`}; ${there === '' ? 'none is kept' : `kept are ${there}`}.`,
    );
  }
  return {
    pluginVersion: row.plugin_version,
    sha256: row.sha256,
    publisher: row.publisher,
    manifest: JSON.parse(row.manifest_json) as PluginManifest,
    grant: JSON.parse(row.grant_json) as string[],
    settings: JSON.parse(row.settings_json) as Record<string, unknown>,
  };
}
