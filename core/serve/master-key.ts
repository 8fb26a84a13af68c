// Whether the master key is the one that this installation's secrets were sealed with. With another one the server would start and answer,
// and deliver nothing: each signing secret stays shut. The database knows the key by a fingerprint.
import { timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createSealing, fingerprintOf } from '../lib/sealing.ts';
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

/** Where the key that is to come lies while `tatami master-key rotate` seals everything anew. */
export const nextKeyFile = (keyFile: string): string => `${keyFile}.next`;

/**
 * The key that this database's secrets are sealed with: the one in the key file, or the one that a rotation which was killed had
 * sealed everything with, which then takes its place. The first start that finds no fingerprint notes one, once a stored secret has
 * been opened, where there is one.
 * @throws Error where the key is another one
 */
export async function settleMasterKey(store: Store, { masterKey, keyFile }: KeptKey): Promise<Uint8Array> {
  const fingerprint = fingerprintOf(masterKey);
  const [row] = await store.readSystem(known);
  if (!row?.key_fingerprint) {
    if (!store.status().writable) return masterKey;
    const [secret] = await store.readSystem(anySecret);
    const sealing = createSealing(masterKey);
    if (secret && !opensSecret(sealing, secret.workspace_id, secret.id, secret.secret_sealed))
      throw wrongKey(keyFile, 'it does not open a signing secret of the database');
    await store.commit([systemOp(note, { fingerprint })]);
    return masterKey;
  }
  const next = readNext(keyFile);
  if (isSame(fingerprint, row.key_fingerprint)) {
    if (next && store.status().writable) rmSync(nextKeyFile(keyFile));
    return masterKey;
  }
  if (next && isSame(fingerprintOf(next), row.key_fingerprint)) {
    if (store.status().writable) nameWholeFile(nextKeyFile(keyFile), keyFile);
    return next;
  }
  throw wrongKey(
    keyFile,
    `it has the fingerprint ${fingerprint}, and the database wants ${row.key_fingerprint}`,
  );
}

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

function readNext(keyFile: string): Uint8Array | null {
  const path = nextKeyFile(keyFile);
  if (!existsSync(path)) return null;
  const key = new Uint8Array(Buffer.from(readFileSync(path, 'utf8').trim(), 'base64'));
  return key.length === 32 ? key : null;
}

function wrongKey(keyFile: string, why: string): Error {
  return new Error(
    `${keyFile} is not the key of this database: ${why}. Put the right key back; it may lie beside an earlier copy or in a backup. ` +
      'With another key the secrets of webhooks cannot be opened, and nothing would be delivered. Nothing was changed.',
  );
}
