// The files of the master key, and which of them holds the key that the database knows by its fingerprint.
import { timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fingerprintOf } from '../lib/sealing.ts';

/** Holds the key that is to come while `tatami master-key rotate` seals everything anew. */
export const nextKeyFile = (keyFile: string): string => `${keyFile}.next`;

/** 32 bytes; null where the file is missing or holds something else. */
export function readKeyFile(path: string): Uint8Array | null {
  if (!existsSync(path)) return null;
  const key = new Uint8Array(Buffer.from(readFileSync(path, 'utf8').trim(), 'base64'));
  return key.length === 32 ? key : null;
}

/** The key in the file, or the one that a rotation which was killed had sealed everything with; null where neither is of this database. */
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
  `it has the fingerprint ${fingerprintOf(masterKey)}, and the database wants ${fingerprint}`;

export const otherKey = (keyFile: string, why: string): string =>
  `${keyFile} is not the key of this database: ${why}. Put the right key back; it may be beside an earlier copy or in a backup.`;
