// Pages to sign in, to confirm the identity, and to sign out.
import { readForm, html, type Html } from '../../kernel/html.ts';
import type { RawRequest, RawAnswer, Route } from '../../kernel/http/route.ts';
import { isLoopbackHost } from '../../platform/lib/address.ts';
import { accountById } from '../people/index.ts';
import { passwordMax } from './passwords.ts';
import {
  card,
  done,
  hidden,
  leadOut,
  leadTo,
  leadToSignIn,
  pageRoute,
  problem,
  readSignedForm,
  scriptOf,
  destinationOf,
} from './page-parts.ts';
import type { SignedIn } from './sessions.ts';
import type { SignInParts } from './runtime.ts';

/** Alternative to the password: a button or form on the sign-in page and on the confirmation page. */
export interface WayIn {
  /** Path of the script for the form. */
  readonly script?: string;
  /**
   * @param to path on this server to continue to
   * @param again signed-in person who confirms their identity; null for a sign-in
   * @returns null if the method is not available to the person
   */
  html(to: string, again: SignedIn | null, request: RawRequest): Promise<Html | null>;
}

const wrong = 'The e-mail address or password is wrong. Try again, or reset your password.';

export function signInRoutes(parts: SignInParts): Route[] {
  const { services, sessions, signIn } = parts;
  const { baseUrl } = services;
  return [
    pageRoute(
      { method: 'GET', path: '/sign-in', name: 'sign-in.page', summary: 'Sign in' },
      async (request) => {
        const { headers, query } = request;
        const to = destinationOf(query.get('to'), baseUrl);
        if (await sessions.find(headers)) return leadTo(baseUrl, to);
        const said = query.has('reset') ? done('Your password was changed. Sign in with the new one.') : null;
        return signInPage(parts, request, { to, said });
      },
    ),
    pageRoute(
      { method: 'POST', path: '/sign-in', name: 'sign-in.submit', summary: 'Sign in with a password' },
      async (request) => {
        const form = await readForm(request, baseUrl);
        const email = form.get('email') ?? '';
        const checked = await signIn.check(request, email, passwordOf(form));
        if (checked.account)
          return signIn.proceed(checked.account.id, request, form.get('to'), checked.account);
        const to = destinationOf(form.get('to'), baseUrl);
        return signInPage(parts, request, { to, email, ...refusalOf(checked.waitSeconds, wrong) });
      },
    ),
    pageRoute(
      { method: 'GET', path: '/sign-in/again', name: 'sign-in.again', summary: 'Authenticate again' },
      async (request) => {
        const who = await sessions.find(request.headers);
        const to = destinationOf(request.query.get('to'), baseUrl);
        return who ? againPage(parts, request, { who, to }) : leadToSignIn(baseUrl, to);
      },
    ),
    pageRoute(
      {
        method: 'POST',
        path: '/sign-in/again',
        name: 'sign-in.prove',
        summary: 'Authenticate again with the password',
      },
      (request) => proveAgain(parts, request),
    ),
    pageRoute(
      { method: 'POST', path: '/sign-out', name: 'sign-in.out', summary: 'Sign out' },
      async (request) => {
        const who = await sessions.find(request.headers);
        if (who) {
          await readSignedForm(request, baseUrl, who);
          await sessions.end(who.accountId, who.sessionId);
          // Rejects a form of another site, which the browser sends without the cookie: it could clear the storage.
        } else await readForm(request, baseUrl);
        return leadOut(baseUrl, '/sign-in', [sessions.forgetCookie]);
      },
    ),
  ];
}

async function proveAgain(parts: SignInParts, request: RawRequest): Promise<RawAnswer> {
  const { services, sessions, signIn } = parts;
  const { baseUrl, store } = services;
  const who = await sessions.find(request.headers);
  if (!who) return leadToSignIn(baseUrl, '/');
  const form = await readSignedForm(request, baseUrl, who);
  const to = destinationOf(form.get('to'), baseUrl);
  const account = await accountById(store, who.accountId);
  if (!account) return leadToSignIn(baseUrl, to);
  const { isRight, waitSeconds } = await signIn.checkOf(request, account, passwordOf(form));
  if (!isRight)
    return againPage(parts, request, {
      ...{ who, to },
      ...refusalOf(waitSeconds, 'The password is wrong. Try again.'),
    });
  await sessions.prove(who.sessionId);
  return leadTo(baseUrl, to);
}

/**
 * Returns a password from a form, truncated to one character above the maximum to bound the cost of hashing.
 */
export function passwordOf(form: URLSearchParams, field = 'password'): string {
  return [...(form.get(field) ?? '')].slice(0, passwordMax + 1).join('');
}

export interface SignInNotice {
  readonly said: Html | null;
  readonly status?: number;
  readonly headers?: RawAnswer['headers'];
}

/**
 * Returns the message for a rejected password or code.
 * @param waitSeconds seconds until the next attempt; null if attempts are left
 */
export function refusalOf(waitSeconds: number | null, why: string): SignInNotice {
  if (waitSeconds === null) return { said: problem(why), status: 422 };
  const minutes = Math.ceil(waitSeconds / 60);
  return {
    said: problem(
      `Too many failed attempts. Try again in ${minutes} min, or sign in on a device that you have used before.`,
    ),
    status: 429,
    headers: { 'retry-after': String(waitSeconds) },
  };
}

async function othersOf(
  waysIn: readonly WayIn[],
  request: RawRequest,
  { to, again }: { readonly to: string; readonly again: SignedIn | null },
): Promise<Html[]> {
  const all = await Promise.all(waysIn.map((way) => way.html(to, again, request)));
  return all.filter((way) => way !== null);
}

/** Returns true if browsers store `Secure` cookies of this server: with https, or on the same machine. */
function supportsSessions(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'https:' || isLoopbackHost(hostname);
}

const noSessions = html`<p class="notice warning">
  Sign-in needs HTTPS. Ask your administrator to put a TLS proxy in front of this server and to set
  <code>--base-url</code>.
</p>`;

async function signInPage(
  { services, waysIn }: SignInParts,
  request: RawRequest,
  { to, email = '', said, ...answer }: SignInNotice & { to: string; email?: string },
): Promise<RawAnswer> {
  const content = html`${said} ${supportsSessions(services.baseUrl) ? null : noSessions}
    <form method="post" action="/sign-in">
      ${hidden('to', to)}
      <label
        >E-mail<input
          type="email"
          name="email"
          value="${email}"
          autocomplete="username"
          maxlength="254"
          required
      /></label>
      <label
        >Password<input type="password" name="password" autocomplete="current-password" required
      /></label>
      <button>Sign in</button>
    </form>
    ${await othersOf(waysIn, request, { to, again: null })}
    <p><a href="/reset">Forgot your password?</a></p>`;
  return card('Sign in', content, { ...answer, ...scriptOf(waysIn) });
}

async function againPage(
  { services, waysIn }: SignInParts,
  request: RawRequest,
  { who, to, said = null, ...answer }: Partial<SignInNotice> & { who: SignedIn; to: string },
): Promise<RawAnswer> {
  const account = await accountById(services.store, who.accountId);
  const byPassword = html`<form method="post" action="/sign-in/again">
    ${hidden('to', to)}${hidden('form_token', who.formToken)}
    <input type="text" name="email" value="${who.email}" autocomplete="username" hidden />
    <label>Password<input type="password" name="password" autocomplete="current-password" required /></label>
    <button>Continue</button>
  </form>`;
  const content = html`<p>Enter your password or use another sign-in method to continue as ${who.name}.</p>
    ${said} ${account?.passwordHash ? byPassword : null}
    ${await othersOf(waysIn, request, { to, again: who })}
    <p><a href="/account">Back to your account</a></p>`;
  return card('Confirm it’s you', content, { person: who, ...answer, ...scriptOf(waysIn) });
}
