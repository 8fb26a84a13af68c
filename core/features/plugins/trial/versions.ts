// Builds the versions of a trial: a package, its settings and a grant. A version never gets scopes that its
// requester does not have, and a shadow none that its install does not have.
import type { Static } from 'typebox';
import type { PluginPackage } from '../../../../sdk/plugin/manifest.ts';
import type { Context } from '../../../kernel/context.ts';
import type { CheckFilter } from '../../../kernel/resource/filter/filtering.ts';
import { expandScopes } from '../../../kernel/rights/table.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import type { Scope } from '../../../platform/store/store.ts';
import { requireReferenced } from '../installs/manifest.ts';
import { type Install, installModel } from '../installs/model.ts';
import { checkSettings } from '../installs/settings.ts';
import {
  checkManifest,
  readPackage,
  requireSignedTrial,
  type PackageRules,
  type PluginTrust,
} from '../installs/versions/check.ts';
import type { GateCreate } from './schema.ts';
import { createValues, type RunValues } from './values.ts';

/** A version as requested and stored. */
export interface RequestedVersion {
  /** The executed parts of a package, without its source map. */
  readonly code: Pick<PluginPackage, 'manifest' | 'sha256' | 'code'>;
  readonly grant: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
}

/** A version as it runs. */
export interface Version {
  readonly install: Install;
  readonly source: string;
  /** Install id under which the isolates of this version run; must be unique to its trial. */
  readonly isolateId: string;
  /** Returns the stored values of the plugin for the next run. */
  readonly values: () => RunValues;
}

export interface VersionRules extends PackageRules {
  readonly checkFilter: CheckFilter;
  readonly trust: PluginTrust;
}

/**
 * Reads the package in a request as a version to test; with `install`, it must be of the same plugin.
 * @throws ApiError validation_failed, forbidden
 */
export async function requestedVersion(
  ctx: Context,
  body: Pick<Static<typeof GateCreate>, 'package' | 'signature' | 'settings'>,
  install: Install | undefined,
  rules: VersionRules,
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
  return limited(ctx, {
    code: { manifest, sha256, code },
    grant: Object.keys(manifest.scopes ?? {}),
    settings: { ...install?.settings, ...body.settings },
  });
}

/** @throws ApiError validation_failed */
export async function installedVersion(
  ctx: Context,
  { manifest, sha256, grant, settings }: Install,
  source: (scope: Scope, sha256: string) => Promise<string>,
  overrides: RequestedVersion['settings'] = {},
): Promise<RequestedVersion> {
  const code = { manifest, sha256, code: await source(ctx.scope, sha256) };
  return limited(ctx, { code, grant, settings: { ...settings, ...overrides } });
}

export function limited(ctx: Context, version: RequestedVersion): RequestedVersion {
  checkSettings(version.code.manifest, version.settings);
  return { ...version, grant: version.grant.filter((scope) => ctx.scopes.has(scope)) };
}

/**
 * Returns a version as if it were installed.
 * @param run isolates and stored values of its runs; by default, the values start empty
 */
export function asInstalled(
  installId: string,
  { code: { manifest, sha256, code }, grant, settings }: RequestedVersion,
  { isolateId, values = createValues() }: Pick<Version, 'isolateId'> & Partial<Pick<Version, 'values'>>,
): Version {
  const install = installModel.create({
    id: installId,
    pluginId: manifest.id,
    pluginVersion: manifest.version,
    sha256,
    manifest,
    grant,
    settings,
    mode: 'simulate',
    modes: {},
    offered: {},
    secretsSet: {},
    publisher: null,
    pending: null,
    probationLeft: 0,
    budget: { whenSpent: 'stop' },
    state: 'active',
    stateReason: null,
    sinceSequence: 0,
    createdAt: 0,
    updatedAt: 0,
    deletedAt: null,
  }).after;
  return { install, source: code, isolateId, values };
}

/** Limits a version to the present grant of an install. */
export function withinGrant(version: RequestedVersion, real: Install): RequestedVersion {
  const { code } = version;
  const granted = expandScopes(real.grant);
  const requests = real.manifest.scopes ?? {};
  const isNarrowed = Object.values(requests).some((one) => 'where' in one || 'fields' in one);
  // Narrowing one scope also narrows the scopes that it includes, so the requests of the installed version
  // replace those of the other one.
  if (isNarrowed)
    return {
      ...version,
      code: { ...code, manifest: { ...code.manifest, scopes: requests } },
      grant: real.grant,
    };
  const isGranted = (scope: string): boolean => [...expandScopes([scope])].every((one) => granted.has(one));
  return { ...version, grant: Object.keys(code.manifest.scopes ?? {}).filter(isGranted) };
}
