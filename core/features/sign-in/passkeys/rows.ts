import type { RowOf } from '../../../kernel/table/define.ts';
import { systemStatement } from '../../../platform/store/statement.ts';
import { passkeyTable } from '../tables.ts';

export type PasskeyRow = RowOf<typeof passkeyTable>;

const ofAccount = 'an account belongs to the installation, and so do its passkeys';

export const passkeysMax = 20;

export const insertPasskey = systemStatement(
  'passkeys.insert',
  ofAccount,
  `INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports_json, name, created_at)
   SELECT :id, :account, :credential, :key, :counter, :transports, :name, :now
   WHERE (SELECT COUNT(*) FROM passkeys WHERE account_id = :account) < ${passkeysMax}`,
);
export const listPasskeys = systemStatement<PasskeyRow>(
  'passkeys.of_account',
  ofAccount,
  `SELECT ${passkeyTable.columns.join(', ')} FROM passkeys WHERE account_id = :account ORDER BY id`,
);
export const findPasskey = systemStatement<PasskeyRow>(
  'passkeys.by_credential',
  ofAccount,
  `SELECT ${passkeyTable.columns.join(', ')} FROM passkeys WHERE credential_id = :credential`,
);
/**
 * Changes nothing if the counter has not risen, which indicates a cloned authenticator (Level 3 §6.1.1).
 * Authenticators without a counter always send 0.
 */
export const notePasskeyUse = systemStatement(
  'passkeys.note_use',
  ofAccount,
  `UPDATE passkeys SET counter = :counter, last_used_at = :now
   WHERE id = :id AND (counter < :counter OR (counter = 0 AND :counter = 0))`,
);
export const renamePasskey = systemStatement(
  'passkeys.rename',
  ofAccount,
  'UPDATE passkeys SET name = :name WHERE id = :id AND account_id = :account',
);
export const deletePasskeysOf = systemStatement(
  'passkeys.delete_all',
  ofAccount,
  'DELETE FROM passkeys WHERE account_id = :account',
);
/** Deletes nothing if the account has no other sign-in method. */
export const deletePasskey = systemStatement(
  'passkeys.delete',
  ofAccount,
  `DELETE FROM passkeys WHERE id = :id AND account_id = :account AND (
     EXISTS (SELECT 1 FROM accounts AS a WHERE a.id = :account AND a.password_hash IS NOT NULL)
     OR EXISTS (SELECT 1 FROM passkeys AS p WHERE p.account_id = :account AND p.id <> :id)
     OR EXISTS (SELECT 1 FROM linked_accounts AS o WHERE o.account_id = :account))`,
);
