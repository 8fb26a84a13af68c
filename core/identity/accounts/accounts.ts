// Accounts: people who sign in at this server. What they may do is decided by the members whose seats they take.
import type { Services } from '../../context.ts';
import { systemStatement, tenantStatement } from '../../store/statement.ts';
import { scopeOf, systemOp, tenantOp, type Op, type Scope, type Store } from '../../store/store.ts';

const accountPrefix = 'acc';

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
const selected = 'SELECT id, name, email, password_hash FROM accounts';
const findByEmail = systemStatement<AccountRow>(
  'accounts.by_email',
  ofInstallation,
  `${selected} WHERE email_key = :key`,
);
const findById = systemStatement<AccountRow>('accounts.by_id', ofInstallation, `${selected} WHERE id = :id`);
const renameAccount = systemStatement(
  'accounts.rename',
  ofInstallation,
  'UPDATE accounts SET name = :name, email = :email, email_key = :key, updated_at = :now WHERE id = :id',
);
const setPassword = systemStatement(
  'accounts.set_password',
  ofInstallation,
  'UPDATE accounts SET password_hash = :password, updated_at = :now WHERE id = :id',
);
const deleteSeat = tenantStatement(
  'seats.delete',
  'DELETE FROM seats WHERE workspace_id = :ws AND member_id = :member',
);

interface AccountRow {
  id: string;
  name: string;
  email: string;
  password_hash: string | null;
}

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  /** In the PHC form; null for one that signs in by other means. */
  readonly passwordHash: string | null;
}

const accountOf = (row: AccountRow | undefined): Account | null =>
  row ? { id: row.id, name: row.name, email: row.email, passwordHash: row.password_hash } : null;

export async function accountByEmail(store: Store, email: string): Promise<Account | null> {
  const [row] = await store.readSystem(findByEmail, { key: emailKeyOf(email) });
  return accountOf(row);
}

export async function accountById(store: Store, id: string): Promise<Account | null> {
  const [row] = await store.readSystem(findById, { id });
  return accountOf(row);
}

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

/** Ends what an account may do as a member; nothing where nobody has taken the seat. */
export function leaveSeatOp(scope: Scope, memberId: string): Op {
  return tenantOp(scope, deleteSeat, { member: memberId });
}

/** Fails where another account has the address. */
export function renameOp({ id }: Pick<Account, 'id'>, name: string, email: string, now: number): Op {
  return systemOp(
    renameAccount,
    { id, name, email: email.trim(), key: emailKeyOf(email), now },
    { expectRows: 1 },
  );
}

export function setPasswordOp(accountId: string, passwordHash: string, now: number): Op {
  return systemOp(setPassword, { id: accountId, password: passwordHash, now }, { expectRows: 1 });
}
