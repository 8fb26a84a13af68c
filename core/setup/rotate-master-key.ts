// Replaces the master key of a data directory that no server holds: everything that rests sealed is opened with the old key and sealed
// with a new one, in one batch that also notes which key the database wants now. Killed at any moment, the next start finds the
// key that fits (core/serve/master-key.ts).
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
  'the master key is of the whole installation',
  'UPDATE installation SET key_fingerprint = :to WHERE id = 1 AND key_fingerprint = :from',
);

export interface RotatedKey {
  /** How many values were sealed anew. */
  readonly resealed: number;
  readonly keyFile: string;
  /** Where the old key lies now: backups that were made before open with it alone. */
  readonly oldKeyFile: string;
}

/** @throws Error where a server holds the directory, or something does not open with its key */
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
    if (!outcome.ok) throw new Error(`The secrets could not be sealed anew: ${outcome.message}`);
    nameWholeFile(nextKeyFile(keyFile), keyFile);
    return { resealed: ops.length, keyFile, oldKeyFile };
  } finally {
    await close();
  }
}

const textOf = (key: Uint8Array): string => `${Buffer.from(key).toString('base64')}\n`;
