// Signs plugin packages and verifies their signatures: detached Ed25519 (RFC 8032) over the canonical JSON
// of the whole package, manifest and code alike. Identifies versions by their digest.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto';
import type { PluginManifest, PluginPackage } from '../../../../../sdk/plugin/manifest.ts';
import { ApiError } from '../../../../platform/lib/errors/errors.ts';

/** Signature that accompanies a package. */
export interface PackageSignature {
  readonly keyId: string;
  /** Ed25519 signature in base64. */
  readonly signature: string;
}

/** Domain separation: prevents reuse of a signature for anything but a package. */
const context = 'tatami-plugin-signature/1\n';

/** Returns a new key pair: private key as PEM (PKCS #8), public key in base64. */
export function newKey(): { privateKey: string; publicKey: string; keyId: string } {
  const pair = generateKeyPairSync('ed25519');
  const publicKey = rawOf(pair.publicKey);
  return {
    privateKey: String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    publicKey,
    keyId: keyIdOf(publicKey),
  };
}

/** @param publicKey 32 bytes in base64 */
export function keyIdOf(publicKey: string): string {
  return createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('hex').slice(0, 16);
}

/** @param privateKey PEM. @throws Error if it is not an Ed25519 key */
export function signPackage(document: PluginPackage, privateKey: string): PackageSignature {
  const key = createPrivateKey(privateKey);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('The key must be an Ed25519 key.');
  return {
    keyId: keyIdOf(rawOf(createPublicKey(key))),
    signature: sign(null, signedBytes(document), key).toString('base64'),
  };
}

/** @param publicKey 32 bytes in base64 */
export function isSignedBy(
  document: PluginPackage,
  { signature }: PackageSignature,
  publicKey: string,
): boolean {
  const x = Buffer.from(publicKey, 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, signedBytes(document), key, Buffer.from(signature, 'base64'));
}

export function isPublicKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text);
}

function rawOf(publicKey: KeyObject): string {
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return Buffer.from(x, 'base64url').toString('base64');
}

function signedBytes(document: PluginPackage): Buffer {
  return Buffer.from(context + canonical(document));
}

/**
 * Returns JSON with the members of each object sorted by name, so that a parsed and rewritten copy has the
 * same text.
 */
function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`;
}

interface CodeVersion {
  readonly manifest: PluginManifest;
  readonly sha256: string;
}

/** Digests of pending versions by code hash; `several` if the code was uploaded with more than one manifest. */
export type OfferedVersions = Readonly<Record<string, string>>;

const several = 'several';
/**
 * Limit of entries. Versions beyond it require their digest for consent. Entries are not evicted, so that
 * many uploads cannot displace one.
 */
const offeredMax = 100;

/** Returns the SHA-256 of manifest and code in hex. The code hash alone would not cover hosts and scopes. */
export const digestOf = ({ manifest, sha256 }: CodeVersion): string =>
  createHash('sha256').update(canonical({ manifest, sha256 })).digest('hex');

/** Adds a version that becomes pending. */
export function withOffered(offered: OfferedVersions, version: CodeVersion): OfferedVersions {
  const { sha256 } = version;
  const digest = digestOf(version);
  if (Object.hasOwn(offered, sha256))
    return { ...offered, [sha256]: offered[sha256] === digest ? digest : several };
  return Object.keys(offered).length < offeredMax ? { ...offered, [sha256]: digest } : offered;
}

/** Requires that the consent names the pending version, because another may have been uploaded since. @throws ApiError conflict */
export function requireReviewed(
  { pending, offered }: { readonly pending: CodeVersion; readonly offered: OfferedVersions },
  confirmation: { readonly sha256?: string; readonly digest?: string },
): void {
  const digest = digestOf(pending);
  const isCode = confirmation.sha256 === pending.sha256;
  if (confirmation.digest === digest && (confirmation.sha256 === undefined || isCode)) return;
  if (confirmation.digest === undefined && isCode && offered[pending.sha256] === digest) return;
  const { id, version } = pending.manifest;
  const why =
    confirmation.digest === undefined && isCode
      ? 'has code that was uploaded with more than one manifest'
      : confirmation.digest === undefined && confirmation.sha256 === undefined
        ? 'is not named in the request'
        : 'is not the one in the request';
  throw new ApiError(
    'conflict',
    `The pending version ${version} ${why}. Review it (GET /api/v1/plugins/${id}/consent), then send \`pending.digest\` as \`digest\`, or \`pending.sha256\` as \`sha256\` if its code was uploaded with only one manifest.`,
  );
}
