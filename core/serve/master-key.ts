// Whether the master key is the one that this installation's secrets were sealed with. With another one the server would start and answer,
// and deliver nothing: each signing secret stays shut. The database knows the key by a fingerprint.
import { rmSync } from 'node:fs';
import { createSealing, fingerprintOf } from '../lib/sealing.ts';
import { fittingKey, nextKeyFile, otherFingerprint, otherKey } from '../store/master-key.ts';
import { systemStatement } from '../store/statement.ts';
import { systemOp, type Store } from '../store/store.ts';
import { nameWholeFile } from '../store/whole-file.ts';
import { opensSecret } from '../webhooks/secret.ts';

const known = systemStatement<{ key_fingerprint: string | null }>(
  'installation.key_fingerprint',
  'the master key is of the whole installation',
  'SELECT key_fingerprint FROM installation WHERE id = 1',
);

const note = systemStatement(
  'installation.note_key',
  'the master key is of the whole installation',
  'UPDATE installation SET key_fingerprint = :fingerprint WHERE id = 1 AND key_fingerprint IS NULL',
);

const anySecret = systemStatement<{ workspace_id: string; id: string; secret_sealed: Uint8Array }>(
  'installation.any_secret',
  'any secret that was sealed shows whether a key is the one it was sealed with',
  'SELECT workspace_id, id, secret_sealed FROM endpoints LIMIT 1',
);

export interface KeptKey {
  readonly masterKey: Uint8Array;
  readonly keyFile: string;
}

/**
 * The key that this database's secrets are sealed with: the one in the key file, or the one that a rotation which was killed had
 * sealed everything with, which then takes its place. The first start that finds no fingerprint notes one, once a stored secret has
 * been opened, where there is one.
 * @throws Error where the key is another one
 */
export async function settleMasterKey(store: Store, { masterKey, keyFile }: KeptKey): Promise<Uint8Array> {
  const [row] = await store.readSystem(known);
  const fingerprint = row?.key_fingerprint;
  if (!fingerprint) {
    if (!store.status().writable) return masterKey;
    const [secret] = await store.readSystem(anySecret);
    const sealing = createSealing(masterKey);
    if (secret && !opensSecret(sealing, secret.workspace_id, secret.id, secret.secret_sealed))
      throw wrongKey(keyFile, 'it does not open a signing secret of the database');
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
      'With another key the secrets of webhooks cannot be opened, and nothing would be delivered. Nothing was changed.',
  );
}
