// Stores the versions that an install has run, each with its grant and settings, for a rollback in one
// request.
import { Type } from 'typebox';
import type { PluginManifest } from '../../../../../sdk/plugin/manifest.ts';
import { isoTime } from '../../../../kernel/changes/operations.ts';
import type { Context } from '../../../../kernel/context.ts';
import { ApiError } from '../../../../platform/lib/errors/errors.ts';
import { idPrefixes } from '../../../../platform/lib/ids.ts';
import { Closed, described, idOf, namedSchema, nullable, time } from '../../../../platform/lib/schema.ts';
import { tenantStatement } from '../../../../platform/store/statement.ts';
import { tenantOp, type Op } from '../../../../platform/store/store.ts';
import type { Declared } from '../../secrets/rows.ts';
import { pluginVersionTable } from '../../tables.ts';
import { publisher } from '../contract.ts';
import type { Install } from '../model.ts';

/** Limit of stored versions per install. */
const versionsMax = 20;

const ofInstall = pluginVersionTable.selectAll(
  'of_install',
  ['install_id'],
  `ORDER BY id DESC LIMIT ${versionsMax}`,
);
const leave = pluginVersionTable.update(
  'leave',
  ['grant_json', 'settings_json', 'replaced_at'],
  ['install_id'],
  'replaced_at IS NULL',
);
const enter = pluginVersionTable.insert('enter');
const forget = tenantStatement(
  'plugin_versions.forget',
  `DELETE FROM plugin_versions WHERE workspace_id = :ws AND install_id = :installId AND id NOT IN
     (SELECT id FROM plugin_versions WHERE workspace_id = :ws AND install_id = :installId ORDER BY id DESC LIMIT ${versionsMax})`,
);

/**
 * Returns the ops that replace a version. The replaced version is stored with its latest grant and settings.
 */
export function versionOps(
  { scope, ids, nowMs, actor }: Context,
  before: Install | null,
  after: Install,
): Op[] {
  const [installId, now] = [after.id, nowMs()];
  const grantAndSettings = ({ grant, settings }: Install) => ({
    grant_json: JSON.stringify(grant),
    settings_json: JSON.stringify(settings),
  });
  const entering = {
    id: ids.next(idPrefixes.pluginVersion),
    install_id: installId,
    plugin_version: after.pluginVersion,
    sha256: after.sha256,
    publisher: after.publisher,
    manifest_json: JSON.stringify(after.manifest),
    ...grantAndSettings(after),
    installed_at: now,
    installed_by_json: JSON.stringify({ kind: actor.kind, id: actor.id, name: actor.name }),
    replaced_at: null,
  };
  if (!before) return [enter(scope, entering)];
  const leaving = { install_id: installId, replaced_at: now, ...grantAndSettings(before) };
  return [leave(scope, leaving), enter(scope, entering), tenantOp(scope, forget, { installId })];
}

export const VersionResponse = namedSchema(
  'PluginVersion',
  Closed({
    id: idOf(idPrefixes.pluginVersion),
    version: Type.String({ description: 'Version of the plugin.' }),
    sha256: Type.String({ description: 'SHA-256 of the code, in hex.' }),
    publisher,
    grant: Type.Array(Type.String(), { description: 'Scopes last granted to the version.' }),
    installedAt: described(time, 'Time at which the version was installed.'),
    installedBy: Closed(
      {
        kind: Type.String({ description: 'Type of the actor, such as `user`.' }),
        id: Type.String({ description: 'Id of the actor.' }),
        name: Type.String({ description: 'Name of the actor at that time.' }),
      },
      { description: 'Actor who installed the version or rolled back to it.' },
    ),
    replacedAt: nullable(
      described(time, 'Time at which the version was replaced; null for the installed one.'),
    ),
  }),
);

export async function listVersions(ctx: Context, { id }: Install) {
  const rows = await ofInstall.all(ctx.store, ctx.scope, { install_id: id });
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

/** Returns secrets as declared by the latest stored version that has them. */
export async function lastDeclared(
  ctx: Context,
  { id }: Install,
  names: readonly string[],
): Promise<Declared> {
  if (names.length === 0) return {};
  const rows = await ofInstall.all(ctx.store, ctx.scope, { install_id: id });
  const manifests = rows.map((row) => JSON.parse(row.manifest_json) as PluginManifest);
  return Object.fromEntries(
    names.flatMap((name) => {
      const manifest = manifests.find(({ secrets = {} }) => Object.hasOwn(secrets, name));
      return manifest ? [[name, manifest.secrets![name]!]] : [];
    }),
  );
}

/** Fields that a rollback restores. */
export interface StoredVersion {
  readonly pluginVersion: string;
  readonly sha256: string;
  readonly publisher: string | null;
  readonly manifest: PluginManifest;
  readonly grant: readonly string[];
  readonly settings: Install['settings'];
}

/** @param wanted a version such as 1.4.2; default the previous one. @throws ApiError conflict if there is none */
export async function findStoredVersion(
  ctx: Context,
  install: Install,
  wanted: string | undefined,
): Promise<StoredVersion> {
  const rows = await ofInstall.all(ctx.store, ctx.scope, { install_id: install.id });
  const before = rows.filter((row) => row.replaced_at !== null);
  const row = before.find((one) => wanted === undefined || one.plugin_version === wanted);
  if (!row) {
    const there = before.map((one) => one.plugin_version).join(', ');
    throw new ApiError(
      'conflict',
      `${install.pluginId} has no ${wanted === undefined ? 'earlier version' : `stored version ${wanted}`}. Use one of the stored versions: ${there === '' ? 'none' : there}.`,
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
