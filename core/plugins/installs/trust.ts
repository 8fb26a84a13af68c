// Whose packages may be installed: the publishers that the operator trusts, by their keys. docs/decisions/0060.
import type { PluginPackage } from '../../../sdk/plugin/manifest.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { isSignedBy, type PackageSignature } from '../signature.ts';
import type { Install } from './schema.ts';

/** The self-hoster's own trust roots. */
export interface PluginTrust {
  /** By the id of the key. A publisher may have several, as when one takes the place of another. */
  readonly keys: ReadonlyMap<string, { readonly publisher: string; readonly publicKey: string }>;
  /** Nothing else is installed, whoever confirms it. */
  readonly requireSigned: boolean;
}

interface Offer {
  readonly signature?: PackageSignature;
  readonly sha256?: string;
}

/**
 * Who signed a package, by the name that the operator gave them; null for nobody whom they trust. Where they trust somebody, such a
 * package has to be confirmed by its hash.
 * @throws ApiError forbidden, validation_failed
 */
export function publisherOf(
  { keys, requireSigned }: PluginTrust,
  document: PluginPackage,
  { signature, sha256 }: Offer,
): string | null {
  if (sha256 !== undefined && sha256 !== document.sha256)
    throw invalidField('sha256', 'conflict', {
      why: `The package has the code ${document.sha256}.`,
      fix: 'Look at the package that you were given: it is not the one that you mean.',
    });
  const key = signature && keys.get(signature.keyId);
  if (key) {
    if (isSignedBy(document, signature, key.publicKey)) return key.publisher;
    throw invalidField('signature.signature', 'conflict', {
      why: `${key.publisher} did not sign this package: it was changed since, or the signature is of another.`,
      fix: 'Give the package as its publisher made it, with its signature.',
    });
  }
  const who = signature
    ? `Nobody whom this server trusts has the key ${signature.keyId}`
    : 'Nobody signed the package';
  if (requireSigned)
    throw new ApiError(
      'forbidden',
      `${who}, and this server takes only signed ones. Its operator adds publishers to TATAMI_PLUGIN_TRUST.`,
    );
  if (keys.size > 0 && sha256 === undefined)
    throw new ApiError(
      'forbidden',
      `${who}. Look at what it is; then confirm it by its hash: "sha256": "${document.sha256}".`,
    );
  return null;
}

/**
 * Whether a version that was uploaded before may run now: the operator may have come to refuse what nobody signed, or have taken its
 * publisher off the list. @throws ApiError forbidden
 */
export function requireTrusted(
  { keys, requireSigned }: PluginTrust,
  { publisher, manifest }: Pick<Install, 'publisher' | 'manifest'>,
): void {
  if (!requireSigned) return;
  if (publisher !== null && [...keys.values()].some((key) => key.publisher === publisher)) return;
  const who = publisher === null ? 'Nobody' : `${publisher}, whom this server does not trust any more,`;
  throw new ApiError(
    'forbidden',
    `${who} signed version ${manifest.version}, and this server takes only code of publishers that it trusts. Its operator adds publishers to TATAMI_PLUGIN_TRUST.`,
  );
}

/** Trials (backtests, gates, shadows, replays) write nothing, but they run the code. @throws ApiError forbidden, validation_failed */
export function requireSignedTrial(
  trust: PluginTrust,
  document: PluginPackage,
  signature: PackageSignature | undefined,
): void {
  if (trust.requireSigned) publisherOf(trust, document, signature ? { signature } : {});
}

/** What another version may not be. @throws ApiError conflict, naming the flag that allows it */
export function requireSuccession(
  known: Install,
  { manifest: { version }, sha256 }: PluginPackage,
  publisher: string | null,
  allowed: { readonly downgrade?: boolean; readonly replace?: boolean },
): void {
  if (known.publisher !== null && known.publisher !== publisher)
    throw new ApiError(
      'conflict',
      `${known.pluginId} is ${known.publisher}'s, who did not sign this package. Remove the plugin first, if another's is to take its place.`,
    );
  const { pluginVersion } = known;
  if (allowed.downgrade !== true && Bun.semver.order(version, pluginVersion) < 0)
    throw new ApiError(
      'conflict',
      `Version ${pluginVersion} is installed, which is newer. Set "downgrade": true to go back.`,
    );
  if (allowed.replace !== true && version === pluginVersion && sha256 !== known.sha256)
    throw new ApiError(
      'conflict',
      `Version ${version} is installed with other code. Give the new code a version of its own, or set "replace": true.`,
    );
}
