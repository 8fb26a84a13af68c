// Links by which somebody who forgot a password chooses another: sent to the address of the account, or made by whoever runs the server.
// An account reaches several workspaces, so no admin of one of them makes any.
import type { Services } from '../../context.ts';
import { linkTokenHash, mintLinkToken } from '../../lib/link-token.ts';
import { systemStatement } from '../../store/statement.ts';
import { systemOp, type Op, type Store } from '../../store/store.ts';
import { setPasswordOp } from '../accounts/accounts.ts';
import { endSessionsOp } from '../sessions/sessions.ts';

export const resetMinutes = 30;

const ofInstallation = 'an account belongs to the installation, and to no workspace';
const putReset = systemStatement(
  'password_resets.put',
  ofInstallation,
  `INSERT INTO password_resets (account_id, token_hash, created_at, expires_at) VALUES (:account, :hash, :now, :expires)
   ON CONFLICT (account_id) DO UPDATE SET token_hash = excluded.token_hash, created_at = excluded.created_at,
     expires_at = excluded.expires_at`,
);
const findReset = systemStatement<{ account_id: string }>(
  'password_resets.by_token',
  ofInstallation,
  'SELECT account_id FROM password_resets WHERE token_hash = :hash AND expires_at > :now',
);
const useReset = systemStatement(
  'password_resets.use',
  ofInstallation,
  'DELETE FROM password_resets WHERE account_id = :account AND token_hash = :hash AND expires_at > :now',
);

/** A link that is made, and the operation that stores it in place of an earlier one. */
export function newReset(
  { baseUrl, nowMs }: Pick<Services, 'baseUrl' | 'nowMs'>,
  accountId: string,
): { url: string; expiresAt: number; op: Op } {
  const { token, hash } = mintLinkToken();
  const now = nowMs();
  const expires = now + resetMinutes * 60_000;
  return {
    url: `${baseUrl}/reset/${token}`,
    expiresAt: expires,
    op: systemOp(putReset, { account: accountId, hash, now, expires }),
  };
}

/** Whose password a link changes; null for one that is unknown, used, replaced or expired. */
export async function accountOfReset(store: Store, token: string, now: number): Promise<string | null> {
  const [row] = await store.readSystem(findReset, { hash: linkTokenHash(token), now });
  return row?.account_id ?? null;
}

/** Uses a link up: the password is another, and every session of the account has ended. @returns false where it was used already */
export async function resetPassword(
  store: Store,
  { token, accountId, passwordHash }: { token: string; accountId: string; passwordHash: string },
  now: number,
): Promise<boolean> {
  const outcome = await store.commit([
    systemOp(useReset, { account: accountId, hash: linkTokenHash(token), now }, { expectRows: 1 }),
    setPasswordOp(accountId, passwordHash, now),
    endSessionsOp(accountId),
  ]);
  return outcome.ok;
}
