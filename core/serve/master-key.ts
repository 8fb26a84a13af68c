// Whether the master key is the one that this installation's secrets were sealed with. With another one the server would start and answer,
// and deliver nothing: each signing secret stays shut. The database knows the key by a fingerprint.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Sealing } from '../lib/sealing.ts';
import { systemStatement } from '../store/statement.ts';
import { systemOp, type Store } from '../store/store.ts';
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

/** Says nothing of the key itself: 128 bits of a digest of 256 random ones. */
function fingerprintOf(masterKey: Uint8Array): string {
  return createHash('sha256').update('tatami master key\0').update(masterKey).digest('hex').slice(0, 32);
}

export interface CheckedWith {
  readonly store: Store;
  readonly sealing: Sealing;
  readonly masterKey: Uint8Array;
  readonly keyFile: string;
}

/**
 * The first start that finds no fingerprint notes one, once a stored secret has been opened, where there is one.
 * @throws Error where the key is another one
 */
export async function checkMasterKey({ store, sealing, masterKey, keyFile }: CheckedWith): Promise<void> {
  const fingerprint = fingerprintOf(masterKey);
  const [row] = await store.readSystem(known);
  if (row?.key_fingerprint) {
    if (!timingSafeEqual(Buffer.from(fingerprint), Buffer.from(row.key_fingerprint.padEnd(32).slice(0, 32))))
      throw wrongKey(
        keyFile,
        `it has the fingerprint ${fingerprint}, and the database wants ${row.key_fingerprint}`,
      );
    return;
  }
  if (!store.status().writable) return;
  const [secret] = await store.readSystem(anySecret);
  if (secret && !opensSecret(sealing, secret.workspace_id, secret.id, secret.secret_sealed))
    throw wrongKey(keyFile, 'it does not open a signing secret of the database');
  await store.commit([systemOp(note, { fingerprint })]);
}

function wrongKey(keyFile: string, why: string): Error {
  return new Error(
    `${keyFile} is not the key of this database: ${why}. Put the right key back; it may lie beside an earlier copy or in a backup. ` +
      'With another key the secrets of webhooks cannot be opened, and nothing would be delivered. Nothing was changed.',
  );
}
