// Signs plugin packages and verifies their signatures: detached Ed25519 (RFC 8032) over the canonical JSON of
// the whole package, manifest and code alike.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto';
import type { PluginPackage } from '../../../sdk/plugin/manifest.ts';

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
export function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`;
}
