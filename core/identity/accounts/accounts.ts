// Accounts: people who sign in at this server. What they may do is decided by the members whose seats they take.
import type { Services } from '../../context.ts';
import { systemStatement, tenantStatement } from '../../store/statement.ts';
import { scopeOf, systemOp, tenantOp, type Op } from '../../store/store.ts';

export const accountPrefix = 'acc';

const ofInstallation = 'an account belongs to the installation, and to no workspace';

const insertAccount = systemStatement(
  'accounts.insert',
  ofInstallation,
  `INSERT INTO accounts (id, name, email, email_key, password_hash, created_at, updated_at)
   VALUES (:id, :name, :email, :key, :password, :now, :now)`,
);
const insertSeat = tenantStatement(
  'seats.insert',
  'INSERT INTO seats (workspace_id, member_id, account_id, taken_at) VALUES (:ws, :member, :account, :now)',
);

/** Addresses that differ in case alone are one. */
export function emailKeyOf(email: string): string {
  return email.trim().toLowerCase();
}

/**
 * An account that is made. @param passwordHash in the PHC form; null for one that signs in by other means
 * @returns its id, and the operation that stores it, which fails where another account has the address
 */
export function newAccount(
  { ids, nowMs }: Pick<Services, 'ids' | 'nowMs'>,
  { name, email, passwordHash }: { name: string; email: string; passwordHash: string | null },
): { id: string; op: Op } {
  const id = ids.next(accountPrefix);
  const row = { id, name, email: email.trim(), key: emailKeyOf(email), password: passwordHash };
  return { id, op: systemOp(insertAccount, { ...row, now: nowMs() }) };
}

/** Has an account act as a member; fails where the seat is taken, or the account has another one there. */
export function takeSeatOp(accountId: string, workspaceId: string, memberId: string, now: number): Op {
  return tenantOp(scopeOf(workspaceId), insertSeat, { account: accountId, member: memberId, now });
}
