// Limits wrong user codes (RFC 8628 §5.1), so that a code of eight letters from an alphabet of twenty cannot
// be guessed.
import { LRUCache } from 'lru-cache';
import type { SignedIn } from '../../identity/sessions/sessions.ts';

const wrongMax = 10;
const wrongWithinMs = 600_000;

export interface WrongCodes {
  /** Returns the seconds until the account may enter another code; null if it may enter one now. */
  waitOf(who: SignedIn): number | null;
  note(who: SignedIn): void;
}

export function createWrongCodes(nowMs: () => number): WrongCodes {
  const known = new LRUCache<string, { count: number; until: number }>({ max: 10_000 });
  const of = ({ accountId }: SignedIn): { count: number; until: number } => {
    const now = nowMs();
    const noted = known.get(accountId);
    return noted && now < noted.until ? noted : { count: 0, until: now + wrongWithinMs };
  };
  return {
    waitOf(who) {
      const { count, until } = of(who);
      return count >= wrongMax ? Math.ceil((until - nowMs()) / 1000) : null;
    },
    note(who) {
      const { count, until } = of(who);
      known.set(who.accountId, { count: count + 1, until });
    },
  };
}
