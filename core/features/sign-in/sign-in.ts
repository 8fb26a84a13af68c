// Sign-in: a password or another first factor, then a second step if the account requires one, then a
// session. Every method ends in `proceed` or `finish`, so that none skips the second step and each creates a
// new session.
import { createHash } from 'node:crypto';
import type { Sealing } from '../../platform/lib/secrets/sealing.ts';
import {
  type IdentityDeps,
  accountById,
  accountsByEmail,
  emailKeyOf,
  stillPasswordOp,
  type Account,
} from '../people/index.ts';
import { cookieLine, cookieOf } from '../../kernel/html.ts';
import type { RawRequest, RawAnswer } from '../../kernel/http/route.ts';
import type { Passwords } from './passwords.ts';
import { deviceAt, leadTo, destinationOf } from './page-parts.ts';
import type { Sessions } from './sessions.ts';
import { deviceOf, rememberDevice, type SignInAttempt, type SignInLimits } from './limits.ts';

/** Second step that an account can require. */
export interface FurtherStep {
  /** Path of the page of the step, which calls `pending` and `finish`. */
  readonly path: string;
  isSetUp(accountId: string): Promise<boolean>;
}

export interface Pending {
  readonly account: Account;
  /** Path on this server to continue to. */
  readonly to: string;
}

/** `waitSeconds` is null if the password was compared and is wrong. */
type Checked =
  { readonly account: Account } | { readonly account: null; readonly waitSeconds: number | null };

type PasswordCheck = { readonly isRight: boolean; readonly waitSeconds: number | null };

export interface SignIn {
  /**
   * Compares a password with those of the accounts with an address. After too many failures, compares nothing
   * and returns `waitSeconds`.
   */
  check(request: RawRequest, email: string, password: string): Promise<Checked>;
  /** Compares a password with that of a known account, with the same limits. */
  checkOf(request: RawRequest, account: Account, password: string): Promise<PasswordCheck>;
  /**
   * Continues after the first factor with the second step or a session.
   * @param to redirect target, not validated yet
   * @param checked account as of the password check; absent after another first factor
   */
  proceed(accountId: string, request: RawRequest, to: string | null, checked?: Account): Promise<RawAnswer>;
  /**
   * Starts a session and ends the previous one of the browser.
   * @param checked account as of the password check; the sign-in fails if the password has changed since
   * @throws ApiError forbidden
   */
  finish(accountId: string, request: RawRequest, to: string | null, checked?: Account): Promise<RawAnswer>;
  /** @returns the sign-in that waits for its second step; null for none */
  pending(headers: Headers): Promise<Pending | null>;
}

export interface SignInOptions {
  readonly services: IdentityDeps;
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
  const finish: SignIn['finish'] = async (accountId, request, to, checked) => {
    const earlier = await sessions.find(request.headers);
    if (earlier) await sessions.end(earlier.accountId, earlier.sessionId);
    return leadTo(baseUrl, destinationOf(to, baseUrl), [
      await sessions.begin(accountId, deviceAt(request), checked ? [stillPasswordOp(checked)] : []),
      rememberDevice(sealing, request.headers, accountId),
      cookieLine(cookie, '', 0),
    ]);
  };

  return {
    async check(request, email, password) {
      return checkAgainst(request, await accountsByEmail(store, email), emailKeyOf(email), password);
    },
    async checkOf(request, account, password) {
      const checked = await checkAgainst(request, [account], account.emailKey, password);
      return checked.account
        ? { isRight: true, waitSeconds: null }
        : { isRight: false, waitSeconds: checked.waitSeconds };
    },
    async proceed(accountId, request, to, checked) {
      for (const { path, isSetUp } of furtherSteps) {
        if (!(await isSetUp(accountId))) continue;
        const account = checked ?? (await accountById(store, accountId));
        const text = JSON.stringify([accountId, destinationOf(to, baseUrl), nowMs() + pendingMs]);
        const value = `${Buffer.from(text).toString('base64url')}.${sealing.sign(signedOf(text, account), purpose)}`;
        return leadTo(baseUrl, path, [cookieLine(cookie, value, pendingMs / 1000)]);
      }
      return finish(accountId, request, to, checked);
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

/** Covers the password hash, so that a changed password invalidates a pending sign-in. */
function signedOf(text: string, account: Account | null): string {
  return `${text} ${account?.passwordHash ?? ''}`;
}

/** Accounts whose password comparisons count as one attempt. */
interface Candidates {
  /** Contains null for an account that does not exist. */
  readonly accounts: readonly (Account | null)[];
  readonly attempt: SignInAttempt;
}

/**
 * Returns a function that compares a password with those of all accounts with an address, within the limits.
 * A comparison takes the same time without an account. Several accounts can have the same unverified address;
 * the password then selects one.
 */
function createCheck({ services: { sealing, log }, passwords, limits }: SignInOptions) {
  return async (
    request: RawRequest,
    accounts: readonly Account[],
    subject: string,
    password: string,
  ): Promise<Checked> => {
    const candidates = candidatesOf(sealing, request, accounts, subject);
    const isKnownDevice = candidates.some(({ attempt }) => attempt.device !== null);
    const logFields = { account: accounts[0]?.id ?? 'unknown', peer: request.peer, isKnownDevice };
    const taken: SignInAttempt[] = [];
    let waitSeconds: number | null = null;
    for (const { accounts: some, attempt } of candidates) {
      // Attempts over the limit do not enter the queue.
      const mayTry = once(() => limits.take(attempt));
      const mustWait = limits.waitOf(attempt) !== null;
      const matched = mustWait
        ? 'refused'
        : await accountWith(passwords, request.peer, some, { password, mayTry });
      if (matched === 'refused') waitSeconds = Math.max(waitSeconds ?? 1, limits.waitOf(attempt) ?? 1);
      else taken.push(attempt);
      if (matched === 'refused' || !matched) continue;
      for (const one of taken) limits.refund(one);
      return { account: matched };
    }
    const why = waitSeconds === null ? 'wrong password' : 'too many failures';
    log('info', `sign-in refused: ${why}`, logFields);
    return { account: null, waitSeconds };
  };
}

/**
 * Returns each account for which the browser is a known device, then the other accounts together, so that
 * failures for other accounts with the same address do not block a person on a known device.
 */
function candidatesOf(
  sealing: Sealing,
  { peer, headers }: RawRequest,
  accounts: readonly Account[],
  subject: string,
): Candidates[] {
  const hashed = createHash('sha256').update(subject).digest('hex');
  const strangers: (Account | null)[] = accounts.length === 0 ? [null] : [];
  const known: Candidates[] = [];
  for (const account of accounts) {
    const device = deviceOf(sealing, headers, account.id);
    if (device === null) strangers.push(account);
    else known.push({ accounts: [account], attempt: { subject: hashed, peer, device } });
  }
  if (strangers.length === 0) return known;
  return [...known, { accounts: strangers, attempt: { subject: hashed, peer, device: null } }];
}

/** Counts all comparisons of a sign-in as one attempt. */
function once(take: () => boolean): () => boolean {
  let isTaken = false;
  return () => (isTaken ||= take());
}

/** @returns `refused` if no attempt was left; null for a wrong password */
async function accountWith(
  passwords: Passwords,
  peer: string,
  accounts: readonly (Account | null)[],
  { password, mayTry }: { readonly password: string; readonly mayTry: () => boolean },
): Promise<Account | null | 'refused'> {
  for (const account of accounts) {
    const isRight = await passwords.verify(peer, password, account?.passwordHash ?? null, mayTry);
    if (isRight === null) return 'refused';
    if (isRight && account) return account;
  }
  return null;
}
