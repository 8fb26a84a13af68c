// Rotates the master key of a data directory while no server runs. One batch re-encrypts all secrets and records the fingerprint of the new
// key, so that after a crash at any moment the next start finds the matching key (core/serve/master-key.ts).
import { randomBytes } from 'node:crypto';
import { createSealing, fingerprintOf } from '../lib/sealing.ts';
import { settleMasterKey } from '../serve/master-key.ts';
import { nextKeyFile } from '../store/master-key.ts';
import { openStore } from '../store/open-store.ts';
import { systemStatement } from '../store/statement.ts';
import { systemOp } from '../store/store.ts';
import { nameWholeFile, writeWholeFile } from '../store/whole-file.ts';
import { resealOps } from './reseal.ts';

const noteKey = systemStatement(
  'installation.replace_key',
  'the master key belongs to the installation',
  'UPDATE installation SET key_fingerprint = :to WHERE id = 1 AND key_fingerprint = :from',
);

export interface RotatedKey {
  /** Number of re-encrypted values. */
  readonly resealed: number;
  readonly keyFile: string;
  /** File of the old key, which earlier backups still need. */
  readonly oldKeyFile: string;
}

/** @throws Error if a server uses the directory, or a value cannot be decrypted */
export async function rotateMasterKey(dataDir: string, nowMs: () => number): Promise<RotatedKey> {
  const { store, dataDir: files, onlyToRead, close } = openStore(dataDir, nowMs);
  try {
    if (onlyToRead !== null) throw new Error(onlyToRead);
    const { keyFile } = files;
    const old = await settleMasterKey(store, files);
    const next = new Uint8Array(randomBytes(32));
    const [from, to] = [createSealing(old), createSealing(next)];
    const ops = await resealOps(store, from, to);
    const [oldFingerprint, nextFingerprint] = [fingerprintOf(old), fingerprintOf(next)];
    const oldKeyFile = `${keyFile}.old-${oldFingerprint.slice(0, 8)}`;
    writeWholeFile(oldKeyFile, textOf(old));
    writeWholeFile(nextKeyFile(keyFile), textOf(next));
    const noted = systemOp(noteKey, { from: oldFingerprint, to: nextFingerprint }, { expectRows: 1 });
    const outcome = await store.commit([noted, ...ops]);
    if (!outcome.ok)
      throw new Error(
        `Could not re-encrypt the secrets: ${outcome.message}. The old key stays valid; try again.`,
      );
    nameWholeFile(nextKeyFile(keyFile), keyFile);
    return { resealed: ops.length, keyFile, oldKeyFile };
  } finally {
    await close();
  }
}

const textOf = (key: Uint8Array): string => `${Buffer.from(key).toString('base64')}\n`;
