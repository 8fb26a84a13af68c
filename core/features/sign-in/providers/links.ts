// Links from accounts to external accounts, which are identified by issuer and subject.
import { systemStatement } from '../../../platform/store/statement.ts';
import type { IdentityDeps } from '../../people/index.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { systemOp, type Op } from '../../../platform/store/store.ts';
import { stillSignedInOp, type SignedIn } from '../sessions.ts';
import type { OutsidePerson } from './client.ts';
import type { RowOf } from '../../../kernel/table/define.ts';
import { linkedAccountTable } from '../tables.ts';

const ofAccount = 'an account belongs to the installation, and so do its links';

type OutsideRow = RowOf<typeof linkedAccountTable>;

const columns = linkedAccountTable.columns.join(', ');

/**
 * Fails if the external account is linked already. Changes nothing if the account has another link to the
 * provider.
 */
const insertOutside = systemStatement(
  'linked_accounts.insert',
  ofAccount,
  `INSERT INTO linked_accounts (id, account_id, issuer, subject, display_name, created_at)
   SELECT :id, :account, :issuer, :subject, :shown, :now
   WHERE NOT EXISTS (SELECT 1 FROM linked_accounts WHERE account_id = :account AND issuer = :issuer)`,
);
const findOutside = systemStatement<OutsideRow>(
  'linked_accounts.by_subject',
  ofAccount,
  `SELECT ${columns} FROM linked_accounts WHERE issuer = :issuer AND subject = :subject`,
);
const listOutside = systemStatement<OutsideRow>(
  'linked_accounts.of_account',
  ofAccount,
  `SELECT ${columns} FROM linked_accounts WHERE account_id = :account ORDER BY id`,
);
const noteOutsideUse = systemStatement(
  'linked_accounts.note_use',
  ofAccount,
  'UPDATE linked_accounts SET last_used_at = :now, display_name = :shown WHERE id = :id',
);
export const deleteOutsideOf = systemStatement(
  'linked_accounts.delete_all',
  ofAccount,
  'DELETE FROM linked_accounts WHERE account_id = :account AND issuer <> :kept',
);
/** Deletes nothing if the account has no other sign-in method. */
const deleteOutside = systemStatement(
  'linked_accounts.delete',
  ofAccount,
  `DELETE FROM linked_accounts WHERE id = :id AND account_id = :account AND (
     EXISTS (SELECT 1 FROM accounts AS a WHERE a.id = :account AND a.password_hash IS NOT NULL)
     OR EXISTS (SELECT 1 FROM passkeys AS p WHERE p.account_id = :account)
     OR EXISTS (SELECT 1 FROM linked_accounts AS o WHERE o.account_id = :account AND o.id <> :id))`,
);

const outsidePrefix = 'out';

export interface LinkedAccount {
  readonly id: string;
  readonly issuer: string;
  /** Label of the external account, shown to its owner. */
  readonly displayName: string;
  /** Milliseconds since the epoch. */
  readonly lastUsedAt: number | null;
}

export interface Links {
  of(accountId: string): Promise<readonly LinkedAccount[]>;
  /**
   * Records a use of the external account.
   * @returns the id of the linked account; null for none
   */
  use(person: OutsidePerson): Promise<string | null>;
  /**
   * @param provider display name of the provider
   * @throws ApiError conflict if either account is linked already; forbidden if the session has ended
   */
  add(who: SignedIn, person: OutsidePerson, provider: string): Promise<void>;
  addOp(accountId: string, person: OutsidePerson): Op;
  /** @returns false if the link is the last sign-in method of the account and was not removed */
  remove(accountId: string, id: string): Promise<boolean>;
}

export function createLinks({ store, ids, nowMs }: IdentityDeps): Links {
  const of: Links['of'] = async (account) =>
    (await store.readSystem(listOutside, { account })).map((row) => ({
      id: row.id,
      issuer: row.issuer,
      displayName: row.display_name,
      lastUsedAt: row.last_used_at,
    }));
  const addOp: Links['addOp'] = (account, { issuer, subject, displayName }) => {
    const row = { id: ids.next(outsidePrefix), account, issuer, subject, shown: displayName, now: nowMs() };
    return systemOp(insertOutside, row, { expectRows: 1 });
  };
  return {
    of,
    addOp,
    async use({ issuer, subject, displayName }) {
      const [row] = await store.readSystem(findOutside, { issuer, subject });
      if (!row) return null;
      await store.commit([systemOp(noteOutsideUse, { id: row.id, shown: displayName, now: nowMs() })]);
      return row.account_id;
    },
    async add({ accountId, sessionId }, person, provider) {
      const outcome = await store.commit([stillSignedInOp(sessionId), addOp(accountId, person)]);
      if (outcome.ok) return;
      if (outcome.op === 0) throw new ApiError('forbidden', 'Your session has ended. Sign in and try again.');
      throw new ApiError(
        'conflict',
        outcome.reason === 'lost_race'
          ? `Your account is already linked with an account at ${provider}. Unlink it first.`
          : `${person.displayName} at ${provider} is already linked with another account. Unlink it there first.`,
      );
    },
    async remove(account, id) {
      const { ok } = await store.commit([systemOp(deleteOutside, { account, id }, { expectRows: 1 })]);
      return ok || !(await of(account)).some((one) => one.id === id);
    },
  };
}
