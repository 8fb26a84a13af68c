// Links by which somebody who forgot a password chooses another: sent to the address of the account, or made by whoever runs the server.
// An account reaches several workspaces, so no admin of one of them makes any.
import type { Services } from '../../context.ts';
import { linkTokenHash, mintLinkToken } from '../../lib/link-token.ts';
import { systemStatement } from '../../store/statement.ts';
import { systemOp, type Op, type Store } from '../../store/store.ts';
import { setPasswordOps, type Account } from '../accounts/accounts.ts';
import { endOtherWaysInOps, firstProofOps } from '../accounts/proof.ts';
import type { AccountGrants } from '../grants/ending.ts';
import { endSessionsOp } from '../sessions/sessions.ts';

export const resetMinutes = 30;

const ofInstallation = 'an account belongs to the installation, and to no workspace';
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
 * A link that is made, and the operation that stores it in place of an earlier one.
 * @param isMailed whether it goes to the address of the account, and to nobody else
 */
export function newReset(
  { baseUrl, nowMs }: Pick<Services, 'baseUrl' | 'nowMs'>,
  { id, emailKey }: Pick<Account, 'id' | 'emailKey'>,
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

/** What a link is for; null for one that is unknown, used, replaced or expired, or whose account has another password or address. */
export async function findResetBy(store: Store, token: string, now: number): Promise<Reset | null> {
  const [row] = await store.readSystem(findReset, { hash: linkTokenHash(token), now });
  return row ? { accountId: row.account_id, isMailed: row.by_mail === 1 } : null;
}

/**
 * Uses a link up: the password is another, and every session and grant of the account has ended. A link that was mailed proves the
 * address. One that was handed over does not, and so leaves nobody a way in who claimed the address before.
 * @returns false where it was used already
 */
export async function resetPassword(
  grants: AccountGrants,
  account: Account,
  { token, isMailed, passwordHash }: { token: string; isMailed: boolean; passwordHash: string },
  now: number,
): Promise<boolean> {
  const firstOps = isMailed ? firstProofOps(account, now) : endOtherWaysInOps(account.id);
  const outcome = await grants.endWith(account.id, [
    systemOp(useReset, { account: account.id, hash: linkTokenHash(token), now }, { expectRows: 1 }),
    ...setPasswordOps(account.id, passwordHash, now),
    endSessionsOp(account.id),
    ...(account.isProven ? [] : firstOps),
  ]);
  return outcome.ok;
}
