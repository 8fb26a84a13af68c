// The first proof of a mailbox. Whoever claimed the address before may be somebody else: what they set up, and gave to apps, ends with it.
// docs/decisions/0074.
import type { Services } from '../../context.ts';
import { systemStatement } from '../../store/statement.ts';
import { systemOp, type Op } from '../../store/store.ts';
import type { AccountGrants } from '../grants/ending.ts';
import { turnOffOps } from '../one-time-codes/one-time-codes.ts';
import { deletePasskeysOf } from '../passkeys/rows.ts';
import { deleteOutsideOf } from '../providers/rows.ts';
import { endSessionsOp } from '../sessions/sessions.ts';
import { accountById, type Account } from './accounts.ts';

const setProven = systemStatement(
  'accounts.set_proven',
  'an account belongs to the installation, and to no workspace',
  `UPDATE accounts SET email_verified_at = :now, updated_at = :now
   WHERE id = :id AND email_key = :key AND email_verified_at IS NULL`,
);

/** What is newer than the proof, or part of it, and stays. */
interface Staying {
  readonly sessionId?: string;
  /** Issuer of the provider that gave the proof. */
  readonly issuer?: string;
}

/** Ends what signs in to an account by itself. */
export function endOtherWaysInOps(accountId: string, { issuer = '' }: Staying = {}): Op[] {
  return [
    systemOp(deletePasskeysOf, { account: accountId }),
    systemOp(deleteOutsideOf, { account: accountId, kept: issuer }),
  ];
}

/** Fails where the account has another address by then, is proven already, or another account has proven the address. */
export function firstProofOps(
  { id, emailKey }: Pick<Account, 'id' | 'emailKey'>,
  now: number,
  staying: Staying = {},
): Op[] {
  return [
    systemOp(setProven, { id, key: emailKey, now }, { expectRows: 1 }),
    ...endOtherWaysInOps(id, staying),
    ...turnOffOps(id),
    endSessionsOp(id, staying.sessionId),
  ];
}

export interface Proofs {
  /** The holder of an account has shown the mailbox of an address. Nothing happens where it is not its address, or is proven already. */
  note(accountId: string, emailKey: string, staying: Staying): Promise<void>;
}

export function createProofs(
  { store, nowMs }: Pick<Services, 'store' | 'nowMs'>,
  grants: AccountGrants,
): Proofs {
  return {
    async note(accountId, emailKey, staying) {
      const account = await accountById(store, accountId);
      if (!account || account.isProven || account.emailKey !== emailKey) return;
      await grants.endWith(accountId, firstProofOps(account, nowMs(), staying));
    },
  };
}
