// Accounts: people who sign in at this server. What they may do is decided by the members whose seats they take.
import type { Services } from '../../context.ts';
import { addressKey } from '../../lib/address.ts';
import { systemStatement, tenantStatement } from '../../store/statement.ts';
import { scopeOf, systemOp, tenantOp, type Op, type Scope, type Store } from '../../store/store.ts';

const accountPrefix = 'acc';

const ofInstallation = 'an account belongs to the installation, and to no workspace';

/** Inserts nothing where another account has proven the address. */
const insertAccount = systemStatement(
  'accounts.insert',
  ofInstallation,
  `INSERT INTO accounts (id, name, email, email_key, email_verified_at, password_hash, created_at, updated_at)
   SELECT :id, :name, :email, :key, :verified, :password, :now, :now
   WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE email_key = :key AND email_verified_at IS NOT NULL)`,
);
const insertSeat = tenantStatement(
  'seats.insert',
  'INSERT INTO seats (workspace_id, member_id, account_id, taken_at) VALUES (:ws, :member, :account, :now)',
);
const selected = 'SELECT id, name, email, email_key, email_verified_at, password_hash FROM accounts';
/** Each candidate costs a comparison of passwords at a sign-in. */
const candidatesMax = 20;
/** The newest of each workspace come first, so that the admins of one workspace cannot crowd out the members of others. */
const findByEmail = systemStatement<AccountRow>(
  'accounts.by_email',
  ofInstallation,
  `WITH claims AS (
     SELECT a.id, row_number() OVER (PARTITION BY s.workspace_id ORDER BY a.id DESC) AS nth
     FROM accounts AS a LEFT JOIN seats AS s ON s.account_id = a.id WHERE a.email_key IN (:key, :written))
   ${selected} JOIN (SELECT id AS claim_id, min(nth) AS nth FROM claims GROUP BY id) ON claim_id = id
   ORDER BY email_verified_at IS NULL, nth, id DESC LIMIT ${candidatesMax}`,
);
const findClaimed = systemStatement<{ id: string }>(
  'accounts.claimed',
  ofInstallation,
  `SELECT a.id FROM accounts AS a WHERE a.email_key = :key AND a.id <> :account AND (a.email_verified_at IS NOT NULL
     OR EXISTS (SELECT 1 FROM seats AS s WHERE s.account_id = a.id
       AND s.workspace_id IN (SELECT value FROM json_each(:workspaces)))) LIMIT 1`,
);
const findById = systemStatement<AccountRow>('accounts.by_id', ofInstallation, `${selected} WHERE id = :id`);
const findPlaces = systemStatement<{ name: string }>(
  'accounts.places',
  ofInstallation,
  `SELECT w.name FROM seats AS s JOIN workspaces AS w ON w.workspace_id = s.workspace_id
   WHERE s.account_id = :account ORDER BY s.taken_at, s.workspace_id LIMIT 20`,
);
/** Another address is unproven. Changes nothing where another account has proven it. */
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
/** A link to reset ends with the password and with the address that it was made for. */
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
const deleteSeat = tenantStatement(
  'seats.delete',
  'DELETE FROM seats WHERE workspace_id = :ws AND member_id = :member',
);

// oxlint-disable-next-line no-control-regex
const isAscii = /^[\0-\x7f]*$/;

interface AccountRow {
  id: string;
  name: string;
  email: string;
  email_key: string;
  email_verified_at: number | null;
  password_hash: string | null;
}

export interface Account {
  readonly id: string;
  readonly name: string;
  /** As it was typed. */
  readonly email: string;
  readonly emailKey: string;
  /** True once the mailbox was shown to be the holder's; until then the address is a claim, which others may make as well. */
  readonly isProven: boolean;
  /** In the PHC form; null for one that signs in by other means. */
  readonly passwordHash: string | null;
}

const accountOf = (row: AccountRow): Account => ({
  ...{ id: row.id, name: row.name, email: row.email, emailKey: row.email_key },
  ...{ isProven: row.email_verified_at !== null, passwordHash: row.password_hash },
});

/** Those with an address: the one that has proven it first, then the newest of each workspace. */
export async function accountsByEmail(store: Store, email: string): Promise<readonly Account[]> {
  const key = emailKeyOf(email);
  // Accounts from before the normal form have the key that was made then. It turned some signs, such as Kelvin's, into ASCII letters.
  const lower = email.trim().toLowerCase();
  const written = isAscii.test(lower) && !isAscii.test(email) ? key : lower;
  return (await store.readSystem(findByEmail, { key, written })).map(accountOf);
}

/**
 * Whether an address is another account's: proven, or claimed by a member of one of these workspaces.
 * @param accountId whose it may be; '' for a new account
 */
export async function isAddressTaken(
  store: Store,
  key: string,
  accountId: string,
  workspaceIds: readonly string[],
): Promise<boolean> {
  const asked = { key, account: accountId, workspaces: JSON.stringify(workspaceIds) };
  return (await store.readSystem(findClaimed, asked)).length > 0;
}

/** Whether any account has an address, proven or not. */
export async function isAddressClaimed(store: Store, key: string): Promise<boolean> {
  return (await store.readSystem(findByEmail, { key, written: key })).length > 0;
}

export async function accountById(store: Store, id: string): Promise<Account | null> {
  const [row] = await store.readSystem(findById, { id });
  return row ? accountOf(row) : null;
}

/** Names of the workspaces in which an account is a member. */
export async function placesOf(store: Store, accountId: string): Promise<string[]> {
  return (await store.readSystem(findPlaces, { account: accountId })).map(({ name }) => name);
}

/** The key of an address; of what has none, a text that no account has as its key. */
export function emailKeyOf(email: string): string {
  return addressKey(email) ?? `?${email.trim()}`;
}

/**
 * An account that is made. @param passwordHash in the PHC form; null for one that signs in by other means
 * @param isProven whether its mailbox was shown to be the holder's
 * @returns its id, and the operation that stores it, which fails where another account has proven the address
 */
export function newAccount(
  { ids, nowMs }: Pick<Services, 'ids' | 'nowMs'>,
  {
    name,
    email,
    passwordHash,
    isProven = false,
  }: { name: string; email: string; passwordHash: string | null; isProven?: boolean },
): { id: string; op: Op } {
  const id = ids.next(accountPrefix);
  const key = addressKey(email);
  if (key === null) throw new Error('An account needs an address that has a normal form.');
  const now = nowMs();
  const row = { id, name, email: email.trim(), key, verified: isProven ? now : null, password: passwordHash };
  return { id, op: systemOp(insertAccount, { ...row, now }, { expectRows: 1 }) };
}

/** Has an account act as a member; fails where the seat is taken, or the account has another one there. */
export function takeSeatOp(accountId: string, workspaceId: string, memberId: string, now: number): Op {
  return tenantOp(scopeOf(workspaceId), insertSeat, { account: accountId, member: memberId, now });
}

/** Ends what an account may do as a member; nothing where nobody has taken the seat. */
export function leaveSeatOp(scope: Scope, memberId: string): Op {
  return tenantOp(scope, deleteSeat, { member: memberId });
}

/** Fails where another account has proven the address. @param email that has a key */
export function renameOps(id: string, name: string, email: string, now: number): Op[] {
  const key = emailKeyOf(email);
  return [
    systemOp(deleteResetOfOther, { id, key }),
    systemOp(renameAccount, { id, name, email: email.trim(), key, now }, { expectRows: 1 }),
  ];
}

/** Goes with what a password or a code admits: it fails where the account has another password by then. */
export function stillPasswordOp({ id, passwordHash }: Pick<Account, 'id' | 'passwordHash'>): Op {
  return systemOp(stillPassword, { id, password: passwordHash }, { expectRows: 1 });
}

export function setPasswordOps(accountId: string, passwordHash: string, now: number): Op[] {
  return [
    systemOp(deleteReset, { id: accountId }),
    systemOp(setPassword, { id: accountId, password: passwordHash, now }, { expectRows: 1 }),
  ];
}
