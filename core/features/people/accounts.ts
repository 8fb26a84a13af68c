// Accounts of people who sign in to this server. A membership links an account to a member of a workspace, whose
// role decides the rights.
import type { CreationDeps } from './deps.ts';
import { addressKey } from '../../platform/lib/address.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { scopeOf, systemOp, type Op, type Scope, type Store } from '../../platform/store/store.ts';
import type { RowOf } from '../../kernel/table/define.ts';
import { membershipTable, type accountTable } from './tables.ts';

const accountPrefix = 'acc';

const ofInstallation = 'an account belongs to the installation, not to a workspace';

/** Inserts nothing if another account has verified the address. */
const insertAccount = systemStatement(
  'accounts.insert',
  ofInstallation,
  `INSERT INTO accounts (id, name, email, email_key, email_verified_at, password_hash, created_at, updated_at)
   SELECT :id, :name, :email, :key, :verified, :password, :now, :now
   WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE email_key = :key AND email_verified_at IS NOT NULL)`,
);
const insertMembership = membershipTable.insert('insert');
const columns = ['id', 'name', 'email', 'email_key', 'email_verified_at', 'password_hash'] as const;
type AccountRow = Pick<RowOf<typeof accountTable>, (typeof columns)[number]>;
const selected = `SELECT ${columns.join(', ')} FROM accounts`;
/** Limits the cost of a sign-in, which compares the password with that of every candidate. */
const candidatesMax = 20;
/**
 * The newest account of each workspace comes first, so that admins of one workspace cannot displace the
 * members of others.
 */
const findByEmail = systemStatement<AccountRow>(
  'accounts.by_email',
  ofInstallation,
  `WITH claims AS (
     SELECT a.id, row_number() OVER (PARTITION BY s.workspace_id ORDER BY a.id DESC) AS nth
     FROM accounts AS a LEFT JOIN memberships AS s ON s.account_id = a.id WHERE a.email_key = :key)
   ${selected} JOIN (SELECT id AS claim_id, min(nth) AS nth FROM claims GROUP BY id) ON claim_id = id
   ORDER BY email_verified_at IS NULL, nth, id DESC LIMIT ${candidatesMax}`,
);
const findClaimed = systemStatement<{ id: string }>(
  'accounts.claimed',
  ofInstallation,
  `SELECT a.id FROM accounts AS a WHERE a.email_key = :key AND a.id <> :account AND (a.email_verified_at IS NOT NULL
     OR EXISTS (SELECT 1 FROM memberships AS s WHERE s.account_id = a.id
       AND s.workspace_id IN (SELECT value FROM json_each(:workspaces)))) LIMIT 1`,
);
const findById = systemStatement<AccountRow>('accounts.by_id', ofInstallation, `${selected} WHERE id = :id`);
const findWorkspaceNames = systemStatement<{ name: string }>(
  'accounts.places',
  ofInstallation,
  `SELECT w.name FROM memberships AS s JOIN workspaces AS w ON w.workspace_id = s.workspace_id
   WHERE s.account_id = :account ORDER BY s.created_at, s.workspace_id LIMIT 20`,
);
/** A new address is unverified. Changes nothing if another account has verified the address. */
const renameAccount = systemStatement(
  'accounts.rename',
  ofInstallation,
  `UPDATE accounts SET name = :name, email = :email, email_key = :key, updated_at = :now,
     email_verified_at = CASE WHEN email_key = :key THEN email_verified_at END
   WHERE id = :id AND NOT EXISTS
     (SELECT 1 FROM accounts AS o WHERE o.email_key = :key AND o.id <> :id AND o.email_verified_at IS NOT NULL)`,
);
const setPassword = systemStatement(
  'accounts.set_password',
  ofInstallation,
  'UPDATE accounts SET password_hash = :password, updated_at = :now WHERE id = :id',
);
const stillPassword = systemStatement(
  'accounts.still_password',
  ofInstallation,
  'UPDATE accounts SET id = id WHERE id = :id AND password_hash IS :password',
);
/** A change of the password ends the reset link. */
const deleteReset = systemStatement(
  'password_resets.end',
  ofInstallation,
  'DELETE FROM password_resets WHERE account_id = :id',
);
const deleteResetOfOther = systemStatement(
  'password_resets.end_of_other_address',
  ofInstallation,
  `DELETE FROM password_resets WHERE account_id = :id
   AND EXISTS (SELECT 1 FROM accounts WHERE id = :id AND email_key <> :key)`,
);
const deleteMembership = membershipTable.remove('delete', ['member_id']);

export interface AccountAddress {
  readonly id: string;
  readonly emailKey: string;
}

export interface Account extends AccountAddress {
  readonly name: string;
  /** Address as entered. */
  readonly email: string;
  /**
   * True after the holder has verified the address. Several accounts can have the same unverified address.
   */
  readonly isProven: boolean;
  /** Password hash in PHC format; null for an account that signs in by other means. */
  readonly passwordHash: string | null;
}

const accountOf = (row: AccountRow): Account => ({
  id: row.id,
  name: row.name,
  email: row.email,
  emailKey: row.email_key,
  isProven: row.email_verified_at !== null,
  passwordHash: row.password_hash,
});

/**
 * Returns the accounts with an address, 20 at most: the one that has verified it first, then the newest of
 * each workspace.
 */
export async function accountsByEmail(store: Store, email: string): Promise<readonly Account[]> {
  return (await store.readSystem(findByEmail, { key: emailKeyOf(email) })).map(accountOf);
}

/**
 * Returns true if another account has verified an address, or has it and is a member of one of these
 * workspaces.
 * @param accountId account to ignore; '' for a new account
 */
export async function isAddressTaken(
  store: Store,
  key: string,
  accountId: string,
  workspaceIds: readonly string[],
): Promise<boolean> {
  const params = { key, account: accountId, workspaces: JSON.stringify(workspaceIds) };
  return (await store.readSystem(findClaimed, params)).length > 0;
}

export async function isAddressClaimed(store: Store, key: string): Promise<boolean> {
  return (await store.readSystem(findByEmail, { key })).length > 0;
}

export async function accountById(store: Store, id: string): Promise<Account | null> {
  const [row] = await store.readSystem(findById, { id });
  return row ? accountOf(row) : null;
}

/** Returns 20 names at most. */
export async function workspaceNamesOf(store: Store, accountId: string): Promise<string[]> {
  return (await store.readSystem(findWorkspaceNames, { account: accountId })).map(({ name }) => name);
}

/** Returns the normalized address; for an invalid address, a text that is not the key of any account. */
export function emailKeyOf(email: string): string {
  return addressKey(email) ?? `?${email.trim()}`;
}

/**
 * @param passwordHash in PHC format; null for an account that signs in by other means
 * @param isProven true if the holder has verified the address
 * @returns the id, and the operation that inserts the account, which fails if another account has verified
 * the address
 * @throws Error for an invalid address
 */
export function newAccount(
  { ids, nowMs }: CreationDeps,
  {
    name,
    email,
    passwordHash,
    isProven = false,
  }: { name: string; email: string; passwordHash: string | null; isProven?: boolean },
): { id: string; op: Op } {
  const id = ids.next(accountPrefix);
  const key = addressKey(email);
  if (key === null) throw new Error('The address is not a valid e-mail address.');
  const now = nowMs();
  const row = { id, name, email: email.trim(), key, verified: isProven ? now : null, password: passwordHash };
  return { id, op: systemOp(insertAccount, { ...row, now }, { expectRows: 1 }) };
}

/**
 * The operation fails if the member has an account already, or the account is another member of the
 * workspace.
 */
export function addMembershipOp(accountId: string, workspaceId: string, memberId: string, now: number): Op {
  return insertMembership(scopeOf(workspaceId), {
    member_id: memberId,
    account_id: accountId,
    created_at: now,
  });
}

/** The operation changes nothing for a member without an account. */
export function removeMembershipOp(scope: Scope, memberId: string): Op {
  return deleteMembership(scope, { member_id: memberId });
}

/** The operations fail if another account has verified the address. @param email a valid address */
export function renameOps(id: string, name: string, email: string, now: number): Op[] {
  const key = emailKeyOf(email);
  return [
    systemOp(deleteResetOfOther, { id, key }),
    systemOp(renameAccount, { id, name, email: email.trim(), key, now }, { expectRows: 1 }),
  ];
}

/** Returns an operation that fails if the password has changed since `passwordHash` was read. */
export function stillPasswordOp({ id, passwordHash }: Account): Op {
  return systemOp(stillPassword, { id, password: passwordHash }, { expectRows: 1 });
}

export function setPasswordOps(accountId: string, passwordHash: string, now: number): Op[] {
  return [
    systemOp(deleteReset, { id: accountId }),
    systemOp(setPassword, { id: accountId, password: passwordHash, now }, { expectRows: 1 }),
  ];
}
