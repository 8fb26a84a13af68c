// Which account here an account at an outside provider signs in to. What names it is its issuer and its subject.
import type { Services } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { systemOp, type Op } from '../../store/store.ts';
import { stillSignedInOp, type SignedIn } from '../sessions/sessions.ts';
import type { OutsidePerson } from './client.ts';
import { deleteOutside, findOutside, insertOutside, listOutside, noteOutsideUse } from './rows.ts';

const outsidePrefix = 'out';

export interface LinkedAccount {
  readonly id: string;
  readonly issuer: string;
  /** What its owner knows it by. */
  readonly shownAs: string;
  /** Milliseconds since the epoch. */
  readonly lastUsedAt: number | null;
}

export interface Links {
  of(accountId: string): Promise<readonly LinkedAccount[]>;
  /** The account that somebody signs in to, whose use is noted; null for none. */
  use(person: OutsidePerson): Promise<string | null>;
  /**
   * @param provider its name
   * @throws ApiError conflict where either is linked already; forbidden where the session has ended by then
   */
  add(who: Pick<SignedIn, 'accountId' | 'sessionId'>, person: OutsidePerson, provider: string): Promise<void>;
  addOp(accountId: string, person: OutsidePerson): Op;
  /** @returns false where it is the last way into the account, and stays */
  remove(accountId: string, id: string): Promise<boolean>;
}

export function createLinks({ store, ids, nowMs }: Pick<Services, 'store' | 'ids' | 'nowMs'>): Links {
  const of: Links['of'] = async (account) =>
    (await store.readSystem(listOutside, { account })).map((row) => ({
      ...{ id: row.id, issuer: row.issuer, shownAs: row.shown_as, lastUsedAt: row.last_used_at },
    }));
  const addOp: Links['addOp'] = (account, { issuer, subject, shownAs: shown }) => {
    const row = { id: ids.next(outsidePrefix), account, issuer, subject, shown, now: nowMs() };
    return systemOp(insertOutside, row, { expectRows: 1 });
  };
  return {
    of,
    addOp,
    async use({ issuer, subject, shownAs: shown }) {
      const [row] = await store.readSystem(findOutside, { issuer, subject });
      if (!row) return null;
      await store.commit([systemOp(noteOutsideUse, { id: row.id, shown, now: nowMs() })]);
      return row.account_id;
    },
    async add({ accountId, sessionId }, person, provider) {
      const outcome = await store.commit([stillSignedInOp(sessionId), addOp(accountId, person)]);
      if (outcome.ok) return;
      if (outcome.op === 0)
        throw new ApiError('forbidden', 'Your session has ended. Sign in, then try again.');
      throw new ApiError(
        'conflict',
        outcome.reason === 'lost_race'
          ? `Your account is linked with one at ${provider} already. Unlink it first.`
          : `${person.shownAs} at ${provider} is linked with an account here already.`,
      );
    },
    async remove(account, id) {
      const { ok } = await store.commit([systemOp(deleteOutside, { account, id }, { expectRows: 1 })]);
      return ok || !(await of(account)).some((one) => one.id === id);
    },
  };
}
