// Decides whose packages can be installed, by the publisher keys that the operator trusts. docs/decisions/0060.
import type { PluginPackage } from '../../../../../sdk/plugin/manifest.ts';
import { ApiError, invalidField } from '../../../../platform/lib/errors/errors.ts';
import { isSignedBy, type PackageSignature } from './signature.ts';
import type { SettingValues } from '../../../../kernel/settings.ts';
import { pluginSettings, type TrustedKeys } from '../../settings.ts';
import type { Install } from '../model.ts';

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
  { publisher, manifest }: Pick<Install, 'publisher' | 'manifest'>,
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
