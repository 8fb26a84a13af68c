// Reads the master key files and selects the key that matches the fingerprint recorded in the database.
import { timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fingerprintOf } from '../../lib/secrets/sealing.ts';

/** Path of the new key while `tatami master-key rotate` re-encrypts all secrets. */
export const nextKeyFile = (keyFile: string): string => `${keyFile}.next`;

/** Returns the 32 bytes of the key; null if the file is missing or has other content. */
export function readKeyFile(path: string): Uint8Array | null {
  if (!existsSync(path)) return null;
  const key = new Uint8Array(Buffer.from(readFileSync(path, 'utf8').trim(), 'base64'));
  return key.length === 32 ? key : null;
}

/** Returns the key in the file, or the new key of a rotation that was killed after re-encryption; null if neither matches the database. */
export function fittingKey(
  keyFile: string,
  masterKey: Uint8Array,
  fingerprint: string,
): { key: Uint8Array; isNext: boolean } | null {
  if (isOf(masterKey, fingerprint)) return { key: masterKey, isNext: false };
  const next = readKeyFile(nextKeyFile(keyFile));
  return next && isOf(next, fingerprint) ? { key: next, isNext: true } : null;
}

function isOf(key: Uint8Array, fingerprint: string): boolean {
  const own = fingerprintOf(key);
  return own.length === fingerprint.length && timingSafeEqual(Buffer.from(own), Buffer.from(fingerprint));
}

export const otherFingerprint = (masterKey: Uint8Array, fingerprint: string): string =>
  `its fingerprint is ${fingerprintOf(masterKey)}, but the database needs ${fingerprint}`;

export const otherKey = (keyFile: string, why: string): string =>
  `${keyFile} is not the key of this database: ${why}. Restore the right key file, from an earlier copy of the directory or from a backup.`;
