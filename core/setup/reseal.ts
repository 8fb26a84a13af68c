// Re-encrypts all stored secrets with another master key.
import { sealedAtRest, sealedFor, type SealedColumn, type SealedFor } from '../lib/sealed-at-rest.ts';
import type { Sealing } from '../lib/sealing.ts';
import { systemStatement, type Value } from '../store/statement.ts';
import { systemOp, type Op, type Store } from '../store/store.ts';

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
export async function resealOps(store: Store, from: Sealing, to: Sealing): Promise<Op[]> {
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
