// Validates a package before it is installed: its format, its publisher (docs/decisions/0060), whether this
// server supports the manifest, and whether the installer can grant the scopes.
import { requirePerson, type ScopeRequests, scopeOfEvent } from '../../../../kernel/rights/rights.ts';
import {
  PackageError,
  parsePackage,
  type PluginManifest,
  type PluginPackage,
} from '../../../../../sdk/plugin/manifest.ts';
import type { Context } from '../../../../kernel/context.ts';
import { expandScopes, type Unheld } from '../../../../kernel/rights/table.ts';
import type { EventType } from '../../../../kernel/events/catalogue.ts';
import { ApiError, invalidField } from '../../../../platform/lib/errors/errors.ts';
import { parseFilter, type FilterFields } from '../../../../platform/lib/filter/filter.ts';
import { checkCron } from '../../../../platform/lib/time/cron.ts';
import { checkNetShape } from '../../http-out/rules.ts';
import { checkSourceMap } from '../../source-positions.ts';
import { subscribedTypes, requireKnown, requireZone, zoneOf } from '../manifest.ts';
import { checkSettingsSchema } from '../settings.ts';
import { isSignedBy, type PackageSignature } from './signature.ts';
import type { SettingValues } from '../../../../kernel/settings.ts';
import { pluginSettings, type TrustedKeys } from '../../settings.ts';
import type { Install } from '../model.ts';

/** Rules for the scopes and subscriptions of a manifest. */
interface RequestRules {
  /** Returns the fields by which a subscription to an event type can be filtered. */
  filterFields(eventType: string): FilterFields;
  /** Returns the field whose members are custom fields of the workspace; null if there is none. */
  addedFields(eventType: string): string | null;
  /** Returns the first narrowing that an API route cannot enforce; null if there is none. */
  unheldNarrowing(requests: ScopeRequests): Unheld | null;
}

export interface PackageRules extends RequestRules {
  /** Semantic version of this server, checked against `engines`. */
  readonly serverVersion: string;
}

export async function readPackage(document: object) {
  requireKnown(document);
  try {
    const read = await parsePackage(JSON.stringify(document));
    if (read.sourceMap) checkSourceMap(read.sourceMap);
    return read;
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    // The path is reported separately.
    const why = error.message.replace(`${error.path}: `, '');
    throw invalidField(`package${error.path.replaceAll('/', '.')}`, 'invalid_format', { why });
  }
}

/** @throws ApiError validation_failed for the first part that this server does not support */
export function checkManifest(manifest: PluginManifest, rules: PackageRules): void {
  if (!fitsServer(manifest, rules.serverVersion))
    throw invalidField('package.manifest.engines.tatami', 'conflict', {
      why: `The plugin requires Tatami ${manifest.engines.tatami}, but this server is ${rules.serverVersion}. Install a compatible version.`,
    });
  checkRequests(manifest, rules);
}

export function fitsServer({ engines: { tatami } }: PluginManifest, serverVersion: string): boolean {
  return tatami === '*' || Bun.semver.satisfies(serverVersion, tatami);
}

/** Performs the checks whose result depends only on the server version. @throws ApiError validation_failed */
export function checkRequests(manifest: PluginManifest, rules: RequestRules): void {
  checkScopes(manifest, rules);
  checkSubscriptions(manifest, rules);
  checkNetShape(manifest);
  checkSettingsSchema(manifest.settings);
  checkActions(manifest);
  for (const [name, schedule] of Object.entries(manifest.schedules ?? {})) {
    requireZone(schedule, `package.manifest.schedules.${name}`);
    const { cron } = schedule;
    const wrong = cron === undefined ? null : checkCron(cron, zoneOf(schedule));
    if (wrong) throw invalidField(`package.manifest.schedules.${name}`, 'invalid_format', { why: wrong });
  }
}

function checkActions({ actions = {}, scopes = {} }: PluginManifest): void {
  const requestedScopes = expandScopes(Object.keys(scopes));
  for (const [name, { input, target }] of Object.entries(actions)) {
    const path = `package.manifest.actions.${name}`;
    checkSettingsSchema(input, `${path}.input`);
    const read = `${target}s:read`;
    if (target !== 'none' && !requestedScopes.has(read))
      throw invalidField(`${path}.target`, 'required', {
        why: `The action receives ${target === 'issue' ? 'an' : 'a'} ${target}, so the plugin needs to read it.`,
        fix: `Add "${read}": { why: … } to the plugin's scopes.`,
      });
  }
}

function checkScopes({ scopes = {} }: PluginManifest, rules: RequestRules): void {
  const unheld = rules.unheldNarrowing(scopes);
  if (unheld) throw invalidField(`package.manifest.scopes.${unheld.path}`, 'conflict', unheld.fix);
}

function checkSubscriptions(manifest: PluginManifest, rules: RequestRules): void {
  const requestedScopes = expandScopes(Object.keys(manifest.scopes ?? {}));
  for (const type of subscribedTypes(manifest))
    if (!requestedScopes.has(scopeOfEvent(type)))
      throw invalidField(`package.manifest.on.${type}`, 'required', {
        why: `A subscription to ${type} requires the scope ${scopeOfEvent(type)}.`,
        fix: `Add "${scopeOfEvent(type)}": { why: … } to the plugin's scopes.`,
      });
  for (const [type, { filter }] of Object.entries(manifest.on ?? {}))
    if (filter) {
      requireReadableFields(manifest, type, filter);
      parseFilter(filter, rules.filterFields(type), `package.manifest.on.${type}.filter`, {
        under: rules.addedFields(type),
      });
    }
}

/**
 * A filter on a hidden field would reveal its value, because the plugin can observe for which events its
 * handler runs.
 */
function requireReadableFields({ scopes = {} }: PluginManifest, type: string, filter: object): void {
  const scope = scopeOfEvent(type as EventType);
  const fields = scopes[scope]?.fields;
  const outside = fields && Object.keys(filter).find((name) => !fields.includes(name));
  if (outside !== undefined)
    throw invalidField(`package.manifest.on.${type}.filter.${outside}`, 'conflict', {
      why: `The plugin narrows ${scope} to ${fields!.join(', ')}, so it cannot filter by ${outside}.`,
      fix: `Remove ${outside} from the filter, or add it to the fields of ${scope}.`,
    });
}

/** @throws ApiError forbidden, validation_failed */
export function checkGrant(ctx: Context, manifest: PluginManifest, grant: readonly string[]): void {
  requirePerson(ctx, 'grant scopes to a plugin');
  const requestedScopes = Object.keys(manifest.scopes ?? {});
  for (const [index, scope] of grant.entries())
    if (!requestedScopes.includes(scope))
      throw invalidField(`grant.${index}`, 'not_found', {
        why: `The plugin does not request ${scope}. The requested scopes are: ${requestedScopes.join(', ') || 'none'}.`,
        fix: `Remove ${scope} from \`grant\`.`,
      });
  const missing = grant.filter((scope) => !ctx.scopes.has(scope));
  if (missing.length > 0)
    throw new ApiError(
      'forbidden',
      `A plugin cannot be granted scopes that you do not have: ${missing.join(', ')}. Remove these scopes from \`grant\`.`,
    );
}

/** Publisher keys that the operator trusts, and the policy for unsigned packages. */
export interface PluginTrust {
  readonly keys: TrustedKeys;
  /** True if only signed packages can be installed, even with a confirmation. */
  readonly requireSigned: boolean;
}

export const trustOf = (settings: SettingValues): PluginTrust => ({
  keys: settings.of(pluginSettings.pluginTrust),
  requireSigned: settings.of(pluginSettings.pluginUnsigned) === 'refuse',
});

interface Offer {
  readonly signature?: PackageSignature;
  readonly sha256?: string;
}

/**
 * Returns the trusted publisher who signed a package; null if there is none. If the server has trusted
 * publishers, a package that none of them signed must be confirmed by its hash.
 * @throws ApiError forbidden, validation_failed
 */
export function publisherOf(
  { keys, requireSigned }: PluginTrust,
  document: PluginPackage,
  { signature, sha256 }: Offer,
): string | null {
  if (sha256 !== undefined && sha256 !== document.sha256)
    throw invalidField('sha256', 'conflict', {
      why: `\`sha256\` differs from the SHA-256 of the code, which is ${document.sha256}.`,
      fix: 'Send the intended package, or the SHA-256 of its code.',
    });
  const key = signature && keys.get(signature.keyId);
  if (key) {
    if (isSignedBy(document, signature, key.publicKey)) return key.publisher;
    throw invalidField('signature.signature', 'conflict', {
      why: `The signature of ${key.publisher} is invalid: the package was changed, or the signature belongs to another one.`,
      fix: 'Use the unchanged package with the signature of its publisher.',
    });
  }
  const who = signature
    ? `The key ${signature.keyId} belongs to no trusted publisher`
    : 'The package is not signed';
  if (requireSigned)
    throw new ApiError(
      'forbidden',
      `${who}, and this server accepts only signed packages. Ask the operator to add the publisher to TATAMI_PLUGIN_TRUST.`,
    );
  if (keys.size > 0 && sha256 === undefined)
    throw new ApiError(
      'forbidden',
      `${who}. Review the package, then confirm it by its hash: "sha256": "${document.sha256}".`,
    );
  return null;
}

/**
 * Requires that a version uploaded earlier may still run: the operator may since have required signatures or
 * removed its publisher.
 * @throws ApiError forbidden
 */
export function requireTrusted(
  { keys, requireSigned }: PluginTrust,
  { publisher, manifest }: { readonly publisher: string | null; readonly manifest: PluginManifest },
): void {
  if (!requireSigned) return;
  if (publisher !== null && [...keys.values()].some((key) => key.publisher === publisher)) return;
  const who =
    publisher === null ? 'is not signed' : `is signed by ${publisher}, which this server no longer trusts`;
  throw new ApiError(
    'forbidden',
    `Version ${manifest.version} ${who}. This server accepts only code from trusted publishers. Ask the operator to add the publisher to TATAMI_PLUGIN_TRUST.`,
  );
}

/**
 * Requires a trusted signature for trials (backtests, gates, shadows, replays) if the server requires
 * signatures: trials write nothing, but they run the code.
 * @throws ApiError forbidden, validation_failed
 */
export function requireSignedTrial(
  trust: PluginTrust,
  document: PluginPackage,
  signature: PackageSignature | undefined,
): void {
  if (trust.requireSigned) publisherOf(trust, document, signature ? { signature } : {});
}

/**
 * Refuses a package of another publisher, with a lower version number, or with other code under the same
 * number.
 * @throws ApiError conflict; the message says how to allow the upgrade
 */
export function requireSuccession(
  known: Install,
  { manifest: { version }, sha256 }: PluginPackage,
  publisher: string | null,
  allowed: { readonly downgrade?: boolean; readonly replace?: boolean },
): void {
  if (known.publisher !== null && known.publisher !== publisher)
    throw new ApiError(
      'conflict',
      `${known.pluginId} is published by ${known.publisher}, who did not sign this package. To install a package of another publisher, remove the plugin first.`,
    );
  const { pluginVersion } = known;
  if (allowed.downgrade !== true && Bun.semver.order(version, pluginVersion) < 0)
    throw new ApiError(
      'conflict',
      `The installed version ${pluginVersion} is newer. Set "downgrade": true to install an older one.`,
    );
  if (allowed.replace !== true && version === pluginVersion && sha256 !== known.sha256)
    throw new ApiError(
      'conflict',
      `Version ${version} is installed with different code. Change the version number, or set "replace": true.`,
    );
}
