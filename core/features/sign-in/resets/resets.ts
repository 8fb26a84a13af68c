// Links that reset a forgotten password, mailed to the address of the account or created by the operator.
// Workspace admins cannot create them, because an account can be a member of several workspaces.
import { type LinkDeps, setPasswordOps, type Account, type AccountAddress } from '../../people/index.ts';
import { mintLinkToken, tokenHash } from '../../../platform/lib/secrets/tokens.ts';
import { systemStatement } from '../../../platform/store/statement.ts';
import { systemOp, type Op, type Store } from '../../../platform/store/store.ts';
import { endOtherWaysInOps, firstProofOps } from '../proof.ts';
import type { AccountGrants } from '../proof.ts';
import { endSessionsOp } from '../sessions.ts';

export const resetMinutes = 30;

const ofInstallation = 'an account belongs to the installation, not to a workspace';
const putReset = systemStatement(
  'password_resets.put',
  ofInstallation,
  `INSERT INTO password_resets (account_id, token_hash, by_mail, created_at, expires_at)
   SELECT :account, :hash, :mail, :now, :expires
   WHERE EXISTS (SELECT 1 FROM accounts WHERE id = :account AND email_key = :key)
   ON CONFLICT (account_id) DO UPDATE SET token_hash = excluded.token_hash, by_mail = excluded.by_mail,
     created_at = excluded.created_at, expires_at = excluded.expires_at`,
);
const findReset = systemStatement<{ account_id: string; by_mail: number }>(
  'password_resets.by_token',
  ofInstallation,
  'SELECT account_id, by_mail FROM password_resets WHERE token_hash = :hash AND expires_at > :now',
);
const useReset = systemStatement(
  'password_resets.use',
  ofInstallation,
  'DELETE FROM password_resets WHERE account_id = :account AND token_hash = :hash AND expires_at > :now',
);

/**
 * Creates a link, and the operation that stores it and replaces an earlier one.
 * @param isMailed true if only the address of the account receives the link
 */
export function newReset(
  { baseUrl, nowMs }: LinkDeps,
  { id, emailKey }: AccountAddress,
  isMailed: boolean,
): { url: string; expiresAt: number; op: Op } {
  const { token, hash } = mintLinkToken();
  const now = nowMs();
  const expires = now + resetMinutes * 60_000;
  return {
    url: `${baseUrl}/reset/${token}`,
    expiresAt: expires,
    op: systemOp(
      putReset,
      { account: id, key: emailKey, hash, mail: Number(isMailed), now, expires },
      { expectRows: 1 },
    ),
  };
}

export interface Reset {
  readonly accountId: string;
  readonly isMailed: boolean;
}

/**
 * @returns null if the link is unknown, used, replaced or expired, or the password or address has changed
 * since
 */
export async function findResetBy(store: Store, token: string, now: number): Promise<Reset | null> {
  const [row] = await store.readSystem(findReset, { hash: tokenHash(token), now });
  return row ? { accountId: row.account_id, isMailed: row.by_mail === 1 } : null;
}

/**
 * Sets a new password with a link, and ends all sessions and grants of the account. A mailed link verifies
 * the address. Another link does not: for an account with an unverified address it removes passkeys and
 * linked accounts, which another person may have added.
 * @returns false if the link was used already
 */
export async function resetPassword(
  grants: AccountGrants,
  account: Account,
  { token, isMailed, passwordHash }: { token: string; isMailed: boolean; passwordHash: string },
  now: number,
): Promise<boolean> {
  const firstOps = isMailed ? firstProofOps(account, now) : endOtherWaysInOps(account.id);
  const outcome = await grants.endWith(account.id, [
    systemOp(useReset, { account: account.id, hash: tokenHash(token), now }, { expectRows: 1 }),
    ...setPasswordOps(account.id, passwordHash, now),
    endSessionsOp(account.id),
    ...(account.isProven ? [] : firstOps),
  ]);
  return outcome.ok;
}
