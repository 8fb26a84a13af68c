// First verification of an address. Another person may have created the account with the address, so all
// existing sign-in methods, sessions and grants end. docs/decisions/0074.
import { type IdentityDeps, accountById, type AccountAddress } from '../people/index.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { systemOp, type CommitOutcome, type Op } from '../../platform/store/store.ts';
import { turnOffOps } from './one-time-codes.ts';
import { deletePasskeysOf } from './passkeys/rows.ts';
import { deleteOutsideOf } from './providers/links.ts';
import { endSessionsOp } from './sessions.ts';

const setProven = systemStatement(
  'accounts.set_proven',
  'an account belongs to the installation, not to a workspace',
  `UPDATE accounts SET email_verified_at = :now, updated_at = :now
   WHERE id = :id AND email_key = :key AND email_verified_at IS NULL`,
);

/** Permissions that the account gave to apps. */
export interface AccountGrants {
  /**
   * Commits `ops`, which end the sessions of an account, and revokes all grants of the account, including
   * those created meanwhile.
   */
  endWith(accountId: string, ops: readonly Op[]): Promise<CommitOutcome>;
}

/** Session and provider of the verification, which stay valid. */
interface Staying {
  readonly sessionId?: string;
  /** Issuer of the provider that verified the address. */
  readonly issuer?: string;
}

/** Removes the passkeys and linked external accounts, except that of `issuer`. */
export function endOtherWaysInOps(accountId: string, { issuer = '' }: Staying = {}): Op[] {
  return [
    systemOp(deletePasskeysOf, { account: accountId }),
    systemOp(deleteOutsideOf, { account: accountId, kept: issuer }),
  ];
}

/**
 * The operations fail if the address has changed meanwhile, or if this or another account has verified it.
 */
export function firstProofOps({ id, emailKey }: AccountAddress, now: number, staying: Staying = {}): Op[] {
  return [
    systemOp(setProven, { id, key: emailKey, now }, { expectRows: 1 }),
    ...endOtherWaysInOps(id, staying),
    ...turnOffOps(id),
    endSessionsOp(id, staying.sessionId),
  ];
}

export interface Proofs {
  /**
   * Marks the address of an account as verified. Does nothing if the account has verified it already or has
   * another address, or if another account has verified the address.
   */
  note(accountId: string, emailKey: string, staying: Staying): Promise<void>;
}

export function createProofs({ store, nowMs }: IdentityDeps, grants: AccountGrants): Proofs {
  return {
    async note(accountId, emailKey, staying) {
      const account = await accountById(store, accountId);
      if (!account || account.isProven || account.emailKey !== emailKey) return;
      await grants.endWith(accountId, firstProofOps(account, nowMs(), staying));
    },
  };
}
