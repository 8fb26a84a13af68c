// Replaces the master key while no server runs. The server does not load this file, whose statements read whole tables.
import {
  createSealing,
  fingerprintOf,
  type Sealing,
  sealedAtRest,
  sealedFor,
  type SealedColumn,
  type SealedFor,
} from '../../platform/lib/secrets/sealing.ts';
import { nextKeyFile, nameWholeFile, writeWholeFile } from '../../platform/store/files/installation.ts';
import { systemStatement, type Value } from '../../platform/store/statement.ts';
import { systemOp, type Store, type Op } from '../../platform/store/store.ts';
import { randomBytes } from 'node:crypto';
import { openStore } from '../../platform/store/open-store.ts';
import { settleMasterKey } from './master-key.ts';

const noteKey = systemStatement(
  'installation.replace_key',
  'the master key belongs to the installation',
  'UPDATE installation SET key_fingerprint = :to WHERE id = 1 AND key_fingerprint = :from',
);

interface RotatedKey {
  /** Number of re-encrypted values. */
  readonly resealed: number;
  readonly keyFile: string;
  /** File of the old key, which earlier backups still need. */
  readonly oldKeyFile: string;
}

type Reseal = (sealed: Uint8Array) => Uint8Array;

const why = 'the master key belongs to all workspaces';
const columns = sealedAtRest.map((sealedColumn: (typeof sealedAtRest)[number] & SealedColumn) => {
  const { table, column, where, ofInstallation = false } = sealedColumn;
  const workspaceId = ofInstallation ? "''" : 'workspace_id';
  const name = `${table}.${column}`;
  return {
    sealedColumn,
    read: systemStatement<{ workspace_id: string; id: string; held: Value }>(
      `${name}.sealed`,
      why,
      `SELECT ${workspaceId} AS workspace_id, id, ${column} AS held FROM ${table} WHERE ${column} IS NOT NULL${where ? ` AND ${where}` : ''}`,
    ),
    write: systemStatement(
      `${name}.reseal`,
      why,
      `UPDATE ${table} SET ${column} = :held WHERE ${workspaceId} = :workspaceId AND id = :id`,
    ),
  };
});

/** Returns an update for each value with an encrypted part. @throws Error if one cannot be decrypted with `from` */
async function resealOps(store: Store, from: Sealing, to: Sealing): Promise<Op[]> {
  const ops: Op[] = [];
  for (const { sealedColumn, read, write } of columns)
    for (const { workspace_id: workspaceId, id, held } of await store.readSystem(read)) {
      const resealed = inForm[sealedColumn.form](
        held,
        anew(from, to, sealedFor(sealedColumn.purpose, workspaceId, id)),
      );
      if (resealed !== held)
        ops.push(systemOp(write, { workspaceId, id, held: resealed }, { expectRows: 1 }));
    }
  return ops;
}

const anew =
  (from: Sealing, to: Sealing, purpose: SealedFor): Reseal =>
  (sealed) =>
    to.seal(from.open(sealed, purpose), purpose);

/**
 * Functions that re-encrypt a stored value, by its format. They return a value without an encrypted part
 * unchanged.
 */
const inForm: Readonly<Record<SealedColumn['form'], (held: Value, reseal: Reseal) => Value>> = {
  bytes: (held, reseal) => reseal(new Uint8Array(held as Uint8Array)),
  base64: (held, reseal) => JSON.stringify(inBase64(JSON.parse(String(held)) as string, reseal)),
  members: (held, reseal) =>
    /^[{[]/.test(String(held))
      ? JSON.stringify(JSON.parse(String(held)), (name, value: unknown) =>
          name === 'sealed' && typeof value === 'string' ? inBase64(value, reseal) : value,
        )
      : held,
};

const inBase64 = (sealed: string, reseal: Reseal): string =>
  Buffer.from(reseal(new Uint8Array(Buffer.from(sealed, 'base64')))).toString('base64');

/**
 * Replaces the master key while no server runs. One batch re-encrypts all secrets and records the fingerprint of the new
 * key, so that after a crash at any moment the next start finds the matching key.
 * @throws Error if a server uses the directory, or a value cannot be decrypted
 */
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
