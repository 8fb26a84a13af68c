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
type CeremonyType = 'add-passkey' | 'use-passkey' | 'outside';

/** @typeParam D JSON data stored at the start */
export interface Ceremony<D> {
  /** Account that started the challenge; null for a sign-in, where the response identifies the account. */
  readonly accountId: string | null;
  readonly details: D;
  /** Returns 256 bits in base64url, different for each use, derived from the token of the browser. */
  secret(use: string): string;
}

const ofBrowser = 'a browser that signs in has no workspace yet';

const insertCeremony = systemStatement(
  'ceremonies.insert',
  ofBrowser,
  `INSERT INTO ceremonies (token_hash, kind, account_id, details_json, expires_at)
   VALUES (:hash, :kind, :account, :details, :expires)`,
);
const takeCeremony = systemStatement(
  'ceremonies.take',
  ofBrowser,
  `DELETE FROM ceremonies WHERE token_hash = :hash AND kind = :kind AND expires_at > :now
   RETURNING account_id, details_json`,
);

export interface Ceremonies {
  /** @returns the challenge, and the `Set-Cookie` line for the browser */
  begin<D>(
    kind: CeremonyType,
    accountId: string | null,
    details: D,
  ): Promise<{ readonly ceremony: Ceremony<D>; readonly cookie: string }>;
  /**
   * Removes and returns the challenge of the browser; only one of several concurrent requests gets it.
   * @returns null if there is none or it has expired
   */
  take<D>(kind: CeremonyType, headers: Headers): Promise<Ceremony<D> | null>;
  forgetCookie(kind: CeremonyType): string;
}

export function createCeremonies({ store, nowMs }: IdentityDeps): Ceremonies {
  return {
    async begin(kind, accountId, details) {
      const token = randomBytes(32).toString('base64url');
      const row = { hash: tokenHash(token), kind, account: accountId, details: JSON.stringify(details) };
      await store.commit([systemOp(insertCeremony, { ...row, expires: nowMs() + lifeMs })]);
      return {
        ceremony: ceremonyOf(token, accountId, details),
        cookie: cookieLine(cookieNameOf(kind), token, lifeMs / 1000),
      };
    },
    async take<D>(kind: CeremonyType, headers: Headers) {
      const token = cookieOf(headers, cookieNameOf(kind));
      if (token === null) return null;
      const hash = tokenHash(token);
      const outcome = await store.commit([systemOp(takeCeremony, { hash, kind, now: nowMs() })]);
      const [row] = (outcome.ok ? outcome.rows[0] : null) ?? [];
      if (!row) return null;
      const { account_id: account, details_json: details } = row;
      return ceremonyOf(token, account === null ? null : String(account), JSON.parse(String(details)) as D);
    },
    forgetCookie: (kind) => cookieLine(cookieNameOf(kind), '', 0),
  };
}

function ceremonyOf<D>(token: string, accountId: string | null, details: D): Ceremony<D> {
  return {
    accountId,
    details,
    secret: (use) => createHmac('sha256', token).update(use).digest('base64url'),
  };
}

const cookieNameOf = (kind: CeremonyType): string => `tatami-${kind}`;
