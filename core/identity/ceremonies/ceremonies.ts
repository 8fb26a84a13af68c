// Ceremonies: what a browser begins here and finishes soon, with the answer of an authenticator or of an outside provider.
// The browser alone holds the token, in a cookie; every secret of the exchange follows from the token. So a ceremony is finished only in
// the browser that began it, and once, and what is read of the database finishes none.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Services } from '../../context.ts';
import { cookieLine, cookieOf } from '../../html/cookie.ts';
import { systemStatement } from '../../store/statement.ts';
import { systemOp } from '../../store/store.ts';

const lifeMs = 600_000;

/** Of each kind a browser has one at a time: the newest. */
type CeremonyKind = 'add-passkey' | 'use-passkey' | 'outside';

/** @typeParam D what was put down when it began; plain JSON */
export interface Ceremony<D> {
  /** Whose it is; null where that is what it is to find out. */
  readonly accountId: string | null;
  readonly details: D;
  /** 256 bits that nobody knows but this server and the browser, as base64url: for each use others. */
  secret(use: string): string;
}

const ofBrowser = 'a browser that signs in is in no workspace yet';

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
  /** @returns it, and the `Set-Cookie` line that the browser is to be sent */
  begin<D>(
    kind: CeremonyKind,
    accountId: string | null,
    details: D,
  ): Promise<{ readonly ceremony: Ceremony<D>; readonly cookie: string }>;
  /** The one that the browser has begun, which ends: of several requests at once one gets it. Null where there is none, or no more. */
  take<D>(kind: CeremonyKind, headers: Headers): Promise<Ceremony<D> | null>;
  /** The `Set-Cookie` line that takes the cookie away. */
  forgetCookie(kind: CeremonyKind): string;
}

export function createCeremonies({ store, nowMs }: Pick<Services, 'store' | 'nowMs'>): Ceremonies {
  return {
    async begin(kind, accountId, details) {
      const token = randomBytes(32).toString('base64url');
      const row = { hash: hashOf(token), kind, account: accountId, details: JSON.stringify(details) };
      await store.commit([systemOp(insertCeremony, { ...row, expires: nowMs() + lifeMs })]);
      return {
        ceremony: ceremonyOf(token, accountId, details),
        cookie: cookieLine(cookieNameOf(kind), token, lifeMs / 1000),
      };
    },
    async take<D>(kind: CeremonyKind, headers: Headers) {
      const token = cookieOf(headers, cookieNameOf(kind));
      if (token === null) return null;
      const hash = hashOf(token);
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

const cookieNameOf = (kind: CeremonyKind): string => `tatami-${kind}`;

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
