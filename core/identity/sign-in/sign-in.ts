// How a person is signed in: a password, or another way in, then whatever else the account asks for, then a session. Every way ends in
// `proceed` or `finish`, so that each gives a new session and none leaves a step out.
import { createHash } from 'node:crypto';
import type { Services } from '../../context.ts';
import { cookieLine, cookieOf } from '../../html/cookie.ts';
import type { Arrival, RawAnswer } from '../../http/route.ts';
import {
  accountById,
  accountsByEmail,
  emailKeyOf,
  stillPasswordOp,
  type Account,
} from '../accounts/accounts.ts';
import type { Passwords } from '../accounts/passwords.ts';
import { deviceAt, leadTo } from '../pages.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { destinationOf } from './destination.ts';
import { deviceOf, rememberDevice } from './devices.ts';
import type { SignInLimits } from './limits.ts';

/** What an account can ask for after the password. */
export interface FurtherStep {
  /** The page that asks; it reads `pending`, and ends in `finish`. */
  readonly path: string;
  isSetUp(accountId: string): Promise<boolean>;
}

/** Somebody who gave the password of an account, and has yet to take a further step. */
export interface Pending {
  readonly account: Account;
  /** Where they go then. */
  readonly to: string;
}

/** What came of a password. */
type Checked =
  { readonly account: Account } | { readonly account: null; readonly waitSeconds: number | null };

type PasswordCheck = { readonly isRight: boolean; readonly waitSeconds: number | null };

export interface SignIn {
  /** @returns `waitSeconds` where there were too many failures: the password was not looked at */
  check(arrival: Arrival, email: string, password: string): Promise<Checked>;
  /** The password of an account that is known already, counted alike. */
  checkOf(arrival: Arrival, account: Account, password: string): Promise<PasswordCheck>;
  /**
   * After the first factor: the next step, or a session.
   * @param to a path of this server, or anything
   * @param checked the account as its password was compared; absent where another factor was the first
   */
  proceed(accountId: string, arrival: Arrival, to: string | null, checked?: Account): Promise<RawAnswer>;
  /**
   * Begins a session; one that this browser had ends.
   * @param checked the account whose password may not have changed since
   * @throws ApiError forbidden
   */
  finish(accountId: string, arrival: Arrival, to: string | null, checked?: Account): Promise<RawAnswer>;
  /** Who has a further step before them; null for nobody. */
  pending(headers: Headers): Promise<Pending | null>;
}

export interface SignInOptions {
  readonly services: Pick<Services, 'store' | 'sealing' | 'baseUrl' | 'log' | 'nowMs'>;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly limits: SignInLimits;
  readonly furtherSteps: readonly FurtherStep[];
}

const cookie = 'tatami-sign-in';
const purpose = 'sign-in';
const pendingMs = 10 * 60_000;

export function createSignIn(options: SignInOptions): SignIn {
  const { services, sessions, furtherSteps } = options;
  const { store, sealing, baseUrl, nowMs } = services;

  const checkAgainst = createCheck(options);
  const finish: SignIn['finish'] = async (accountId, arrival, to, checked) => {
    const earlier = await sessions.find(arrival.headers);
    if (earlier) await sessions.end(earlier.accountId, earlier.sessionId);
    return leadTo(baseUrl, destinationOf(to, baseUrl), [
      await sessions.begin(accountId, deviceAt(arrival), checked ? [stillPasswordOp(checked)] : []),
      rememberDevice(sealing, arrival.headers, accountId),
      cookieLine(cookie, '', 0),
    ]);
  };

  return {
    async check(arrival, email, password) {
      return checkAgainst(arrival, await accountsByEmail(store, email), emailKeyOf(email), password);
    },
    async checkOf(arrival, account, password) {
      const checked = await checkAgainst(arrival, [account], account.emailKey, password);
      return checked.account
        ? { isRight: true, waitSeconds: null }
        : { isRight: false, waitSeconds: checked.waitSeconds };
    },
    async proceed(accountId, arrival, to, checked) {
      for (const { path, isSetUp } of furtherSteps) {
        if (!(await isSetUp(accountId))) continue;
        const account = checked ?? (await accountById(store, accountId));
        const text = JSON.stringify([accountId, destinationOf(to, baseUrl), nowMs() + pendingMs]);
        const value = `${Buffer.from(text).toString('base64url')}.${sealing.sign(signedOf(text, account), purpose)}`;
        return leadTo(baseUrl, path, [cookieLine(cookie, value, pendingMs / 1000)]);
      }
      return finish(accountId, arrival, to, checked);
    },
    finish,
    async pending(headers) {
      const [packed = '', tag = ''] = cookieOf(headers, cookie)?.split('.') ?? [];
      const text = Buffer.from(packed, 'base64url').toString();
      const id = /^\["(acc_\w+)"/.exec(text)?.[1];
      const account = id === undefined ? null : await accountById(store, id);
      if (!account || !sealing.verify(signedOf(text, account), purpose, tag)) return null;
      const [, to, until] = JSON.parse(text) as [string, string, number];
      return nowMs() < until ? { account, to } : null;
    },
  };
}

/** With another password the steps begin anew. */
function signedOf(text: string, account: Account | null): string {
  return `${text} ${account?.passwordHash ?? ''}`;
}

/**
 * Compares a password with those of the accounts that have an address, where there are attempts left; it takes as long where there is no
 * account as where there is one. Several accounts may claim an address that none has proven: the password says whose it is.
 */
function createCheck({ services: { sealing, log }, passwords, limits }: SignInOptions) {
  return async (
    { peer, headers }: Arrival,
    accounts: readonly Account[],
    subject: string,
    password: string,
  ): Promise<Checked> => {
    const devices = new Map(accounts.map(({ id }) => [id, deviceOf(sealing, headers, id)]));
    const knows = ({ id }: Account): boolean => devices.get(id) !== null;
    const device = [...devices.values()].find((one) => one !== null) ?? null;
    const attempt = { subject: createHash('sha256').update(subject).digest('hex'), peer, device };
    const told = { account: accounts[0]?.id ?? 'unknown', peer, isKnownDevice: device !== null };
    const refused = (waitSeconds: number): Checked => {
      log('info', 'sign-in refused: too many failures', told);
      return { account: null, waitSeconds };
    };
    // Whoever has to wait takes no place in the queue.
    const waitSeconds = limits.waitOf(attempt);
    if (waitSeconds !== null) return refused(waitSeconds);
    const mayTry = once(() => limits.take(attempt));
    // Whoever signed in here before is not kept waiting by others who claim the address.
    const inOrder = accounts.toSorted((a, b) => Number(knows(b)) - Number(knows(a)));
    const found = await accountWith(passwords, inOrder, password, mayTry);
    if (found === 'refused') return refused(limits.waitOf(attempt) ?? 1);
    if (found) {
      limits.giveBack(attempt);
      return { account: found };
    }
    log('info', 'sign-in refused: wrong password', told);
    return { account: null, waitSeconds: null };
  };
}

/** All comparisons of one sign-in are one attempt. */
function once(take: () => boolean): () => boolean {
  let isTaken = false;
  return () => (isTaken ||= take());
}

/** @returns `refused` where there was no attempt left */
async function accountWith(
  passwords: Passwords,
  accounts: readonly Account[],
  password: string,
  mayTry: () => boolean,
): Promise<Account | null | 'refused'> {
  for (const account of accounts.length === 0 ? [null] : accounts) {
    const isRight = await passwords.verify(password, account?.passwordHash ?? null, mayTry);
    if (isRight === null) return 'refused';
    if (isRight && account) return account;
  }
  return null;
}
