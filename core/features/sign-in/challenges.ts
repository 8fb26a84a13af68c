// Challenges that a browser completes with the response of an authenticator or of an external identity
// provider. Only the browser has the token, in a cookie, and all secrets of the exchange are derived from the
// token. So only the browser that started a challenge can complete it, only once, and data that was read
// from the database does not suffice.
import { createHmac, randomBytes } from 'node:crypto';
import { tokenHash } from '../../platform/lib/secrets/tokens.ts';
import type { IdentityDeps } from '../people/index.ts';
import { cookieLine, cookieOf } from '../../kernel/html.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { systemOp } from '../../platform/store/store.ts';

const lifeMs = 600_000;

/** A browser has at most one challenge of each type; a new one replaces it. */
type ChallengeType = 'add-passkey' | 'use-passkey' | 'outside';

/** @typeParam D JSON data stored at the start */
export interface Challenge<D> {
  /** Account that started the challenge; null for a sign-in, where the response identifies the account. */
  readonly accountId: string | null;
  readonly details: D;
  /** Returns 256 bits in base64url, different for each use, derived from the token of the browser. */
  secret(use: string): string;
}

const ofBrowser = 'a browser that signs in has no workspace yet';

const insertChallenge = systemStatement(
  'challenges.insert',
  ofBrowser,
  `INSERT INTO challenges (token_hash, type, account_id, details_json, expires_at)
   VALUES (:hash, :type, :account, :details, :expires)`,
);
const takeChallenge = systemStatement(
  'challenges.take',
  ofBrowser,
  `DELETE FROM challenges WHERE token_hash = :hash AND type = :type AND expires_at > :now
   RETURNING account_id, details_json`,
);

export interface Challenges {
  /** @returns the challenge, and the `Set-Cookie` line for the browser */
  begin<D>(
    type: ChallengeType,
    accountId: string | null,
    details: D,
  ): Promise<{ readonly challenge: Challenge<D>; readonly cookie: string }>;
  /**
   * Removes and returns the challenge of the browser; only one of several concurrent requests gets it.
   * @returns null if there is none or it has expired
   */
  take<D>(type: ChallengeType, headers: Headers): Promise<Challenge<D> | null>;
  forgetCookie(type: ChallengeType): string;
}

export function createChallenges({ store, nowMs }: IdentityDeps): Challenges {
  return {
    async begin(type, accountId, details) {
      const token = randomBytes(32).toString('base64url');
      const row = { hash: tokenHash(token), type, account: accountId, details: JSON.stringify(details) };
      await store.commit([systemOp(insertChallenge, { ...row, expires: nowMs() + lifeMs })]);
      return {
        challenge: challengeFrom(token, accountId, details),
        cookie: cookieLine(cookieNameOf(type), token, lifeMs / 1000),
      };
    },
    async take<D>(type: ChallengeType, headers: Headers) {
      const token = cookieOf(headers, cookieNameOf(type));
      if (token === null) return null;
      const hash = tokenHash(token);
      const outcome = await store.commit([systemOp(takeChallenge, { hash, type, now: nowMs() })]);
      const [row] = (outcome.ok ? outcome.rows[0] : null) ?? [];
      if (!row) return null;
      const { account_id: account, details_json: details } = row;
      return challengeFrom(
        token,
        account === null ? null : String(account),
        JSON.parse(String(details)) as D,
      );
    },
    forgetCookie: (type) => cookieLine(cookieNameOf(type), '', 0),
  };
}

function challengeFrom<D>(token: string, accountId: string | null, details: D): Challenge<D> {
  return {
    accountId,
    details,
    secret: (use) => createHmac('sha256', token).update(use).digest('base64url'),
  };
}

const cookieNameOf = (type: ChallengeType): string => `tatami-${type}`;
