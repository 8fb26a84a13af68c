// Statements for external accounts.
import { systemStatement } from '../../../platform/store/statement.ts';

const ofAccount = 'an account belongs to the installation, and so do its links';

export interface OutsideRow {
  id: string;
  account_id: string;
  issuer: string;
  shown_as: string;
  created_at: number;
  last_used_at: number | null;
}

const columns = 'id, account_id, issuer, shown_as, created_at, last_used_at';

/**
 * Fails if the external account is linked already. Changes nothing if the account has another link to the
 * provider.
 */
export const insertOutside = systemStatement(
  'outside_accounts.insert',
  ofAccount,
  `INSERT INTO outside_accounts (id, account_id, issuer, subject, shown_as, created_at)
   SELECT :id, :account, :issuer, :subject, :shown, :now
   WHERE NOT EXISTS (SELECT 1 FROM outside_accounts WHERE account_id = :account AND issuer = :issuer)`,
);
export const findOutside = systemStatement<OutsideRow>(
  'outside_accounts.by_subject',
  ofAccount,
  `SELECT ${columns} FROM outside_accounts WHERE issuer = :issuer AND subject = :subject`,
);
export const listOutside = systemStatement<OutsideRow>(
  'outside_accounts.of_account',
  ofAccount,
  `SELECT ${columns} FROM outside_accounts WHERE account_id = :account ORDER BY id`,
);
export const noteOutsideUse = systemStatement(
  'outside_accounts.note_use',
  ofAccount,
  'UPDATE outside_accounts SET last_used_at = :now, shown_as = :shown WHERE id = :id',
);
export const deleteOutsideOf = systemStatement(
  'outside_accounts.delete_all',
  ofAccount,
  'DELETE FROM outside_accounts WHERE account_id = :account AND issuer <> :kept',
);
/** Deletes nothing if the account has no other sign-in method. */
export const deleteOutside = systemStatement(
  'outside_accounts.delete',
  ofAccount,
  `DELETE FROM outside_accounts WHERE id = :id AND account_id = :account AND (
     EXISTS (SELECT 1 FROM accounts AS a WHERE a.id = :account AND a.password_hash IS NOT NULL)
     OR EXISTS (SELECT 1 FROM passkeys AS p WHERE p.account_id = :account)
     OR EXISTS (SELECT 1 FROM outside_accounts AS o WHERE o.account_id = :account AND o.id <> :id))`,
);
