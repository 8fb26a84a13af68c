// Checks that the master key of a data directory is the one that sealed the secrets, by the fingerprint in the
// database. With another key the server would start and respond, but could open no signing secret and deliver nothing.
import { rmSync } from 'node:fs';
import { createSealing, fingerprintOf } from '../../platform/lib/secrets/sealing.ts';
import {
  fittingKey,
  nextKeyFile,
  otherFingerprint,
  otherKey,
  nameWholeFile,
} from '../../platform/store/files/installation.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { systemOp, type Store } from '../../platform/store/store.ts';
import { opensSecret } from '../../features/webhooks/index.ts';

const known = systemStatement<{ key_fingerprint: string | null }>(
  'installation.key_fingerprint',
  'the master key belongs to the whole installation',
  'SELECT key_fingerprint FROM installation WHERE id = 1',
);

const note = systemStatement(
  'installation.note_key',
  'the master key belongs to the whole installation',
  'UPDATE installation SET key_fingerprint = :fingerprint WHERE id = 1 AND key_fingerprint IS NULL',
);

const anySecret = systemStatement<{ workspace_id: string; id: string; secret_sealed: Uint8Array }>(
  'installation.any_secret',
  'any stored secret proves whether the key is the one that encrypted it',
  'SELECT workspace_id, id, secret_sealed FROM endpoints LIMIT 1',
);

interface MasterKeySource {
  readonly masterKey: Uint8Array;
  readonly keyFile: string;
}

/**
 * Returns the key that sealed this database's secrets: the one in the key file, or the next key if a rotation was killed after
 * sealing everything with it; the next key then replaces the key file. If no fingerprint is stored, the first start stores one,
 * after opening a stored secret if there is one.
 * @throws Error if the key does not match
 */
export async function settleMasterKey(
  store: Store,
  { masterKey, keyFile }: MasterKeySource,
): Promise<Uint8Array> {
  const [row] = await store.readSystem(known);
  const fingerprint = row?.key_fingerprint;
  if (!fingerprint) {
    if (!store.status().writable) return masterKey;
    const [secret] = await store.readSystem(anySecret);
    const sealing = createSealing(masterKey);
    if (secret && !opensSecret(sealing, secret.workspace_id, secret.id, secret.secret_sealed))
      throw wrongKey(keyFile, 'it does not decrypt a signing secret of the database');
    await store.commit([systemOp(note, { fingerprint: fingerprintOf(masterKey) })]);
    return masterKey;
  }
  const fitting = fittingKey(keyFile, masterKey, fingerprint);
  if (!fitting) throw wrongKey(keyFile, otherFingerprint(masterKey, fingerprint));
  if (store.status().writable) {
    if (fitting.isNext) nameWholeFile(nextKeyFile(keyFile), keyFile);
    else rmSync(nextKeyFile(keyFile), { force: true });
  }
  return fitting.key;
}

function wrongKey(keyFile: string, why: string): Error {
  return new Error(
    `${otherKey(keyFile, why)} ` +
      'Webhook secrets cannot be decrypted with another key, so no webhook would be delivered. Nothing was changed.',
  );
}
