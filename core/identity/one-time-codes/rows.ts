// Statements for recovery codes and the secrets of one-time codes. The id of a secret is that of its account.
import { systemStatement } from '../../store/statement.ts';

const ofAccount = 'an account belongs to the installation, and so do its codes';

export interface SecretRow {
  secret_sealed: Uint8Array;
  confirmed_at: number | null;
}

/** Changes nothing for an account whose codes are on. */
export const putSecret = systemStatement(
  'one_time_codes.put',
  ofAccount,
  `INSERT INTO one_time_codes (id, secret_sealed, created_at, last_step) VALUES (:account, :secret, :now, 0)
   ON CONFLICT (id) DO UPDATE SET secret_sealed = :secret, created_at = :now WHERE confirmed_at IS NULL`,
);
export const findSecret = systemStatement<SecretRow>(
  'one_time_codes.of_account',
  ofAccount,
  'SELECT secret_sealed, confirmed_at FROM one_time_codes WHERE id = :account',
);
export const confirmSecret = systemStatement(
  'one_time_codes.confirm',
  ofAccount,
  `UPDATE one_time_codes SET confirmed_at = :now, last_step = :step
   WHERE id = :account AND confirmed_at IS NULL AND secret_sealed = :secret`,
);
/**
 * Rejects a reused code: changes nothing for a step that is not later than the last used one (RFC 6238 §5.2).
 */
export const useStep = systemStatement(
  'one_time_codes.use_step',
  ofAccount,
  'UPDATE one_time_codes SET last_step = :step WHERE id = :account AND confirmed_at IS NOT NULL AND last_step < :step',
);
export const deleteSecret = systemStatement(
  'one_time_codes.delete',
  ofAccount,
  'DELETE FROM one_time_codes WHERE id = :account',
);

export const insertRecoveryCode = systemStatement(
  'recovery_codes.insert',
  ofAccount,
  'INSERT INTO recovery_codes (account_id, code_hash) VALUES (:account, :hash)',
);
export const useRecoveryCode = systemStatement(
  'recovery_codes.use',
  ofAccount,
  'DELETE FROM recovery_codes WHERE account_id = :account AND code_hash = :hash',
);
export const deleteRecoveryCodes = systemStatement(
  'recovery_codes.delete',
  ofAccount,
  'DELETE FROM recovery_codes WHERE account_id = :account',
);
export const countRecoveryCodes = systemStatement<{ left: number }>(
  'recovery_codes.left',
  ofAccount,
  'SELECT COUNT(*) AS left FROM recovery_codes WHERE account_id = :account',
);
