// The pages on which people sign in, prove again who they are, and sign out.
import { readForm } from '../../html/form.ts';
import { html, type Html } from '../../html/html.ts';
import type { Arrival, RawAnswer, Route } from '../../http/route.ts';
import type { Services } from '../../context.ts';
import { accountById } from '../accounts/accounts.ts';
import { passwordMax } from '../accounts/password-rules.ts';
import { card, done, hidden, leadTo, leadToSignIn, pageRoute, problem, readSignedForm } from '../pages.ts';
import { scriptOf } from '../pages.ts';
import type { Sessions, SignedIn } from '../sessions/sessions.ts';
import { destinationOf } from './destination.ts';
import type { SignIn } from './sign-in.ts';

/** Another way in than a password: a button or a form of its own, on the page for signing in and on that for proving it again. */
export interface WayIn {
  /** What it needs in the browser, by its path. */
  readonly script?: string;
  /**
   * @param to where it leads, a path of this server
   * @param again who is signed in and has to prove it; null for somebody who signs in
   * @returns null where it does not serve that person
   */
  html(to: string, again: SignedIn | null): Promise<Html | null>;
}

export interface SignInPages {
  readonly services: Pick<Services, 'store' | 'baseUrl'>;
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  readonly waysIn: readonly WayIn[];
}

const wrong = 'The address or the password is wrong.';

export function signInRoutes(options: SignInPages): Route[] {
  const { services, sessions, signIn } = options;
  const { baseUrl } = services;
  return [
    pageRoute(
      { method: 'GET', path: '/sign-in', name: 'sign-in.page', summary: 'Sign in' },
      async ({ headers, query }) => {
        const to = destinationOf(query.get('to'), baseUrl);
        if (await sessions.find(headers)) return leadTo(baseUrl, to);
        const said = query.has('reset') ? done('The password is changed. Sign in with the new one.') : null;
        return signInPage(options, { to, said });
      },
    ),
    pageRoute(
      { method: 'POST', path: '/sign-in', name: 'sign-in.submit', summary: 'Sign in with a password' },
      async (arrival) => {
        const form = await readForm(arrival, baseUrl);
        const email = form.get('email') ?? '';
        const checked = await signIn.check(arrival, email, passwordOf(form));
        if (checked.account)
          return signIn.proceed(checked.account.id, arrival, form.get('to'), checked.account);
        const to = destinationOf(form.get('to'), baseUrl);
        return signInPage(options, { to, email, ...refusalOf(checked.waitSeconds, wrong) });
      },
    ),
    pageRoute(
      { method: 'GET', path: '/sign-in/again', name: 'sign-in.again', summary: 'Prove again who you are' },
      async ({ headers, query }) => {
        const who = await sessions.find(headers);
        const to = destinationOf(query.get('to'), baseUrl);
        return who ? againPage(options, who, { to }) : leadToSignIn(baseUrl, to);
      },
    ),
    pageRoute(
      {
        method: 'POST',
        path: '/sign-in/again',
        name: 'sign-in.prove',
        summary: 'Prove again by the password who you are',
      },
      (arrival) => proveAgain(options, arrival),
    ),
    pageRoute(
      { method: 'POST', path: '/sign-out', name: 'sign-in.out', summary: 'Sign out' },
      async (arrival) => {
        const who = await sessions.find(arrival.headers);
        if (who) {
          await readSignedForm(arrival, baseUrl, who);
          await sessions.end(who.accountId, who.sessionId);
        }
        return leadTo(baseUrl, '/sign-in', [sessions.forgetCookie]);
      },
    ),
  ];
}

async function proveAgain(options: SignInPages, arrival: Arrival): Promise<RawAnswer> {
  const { services, sessions, signIn } = options;
  const { baseUrl, store } = services;
  const who = await sessions.find(arrival.headers);
  if (!who) return leadToSignIn(baseUrl, '/account');
  const form = await readSignedForm(arrival, baseUrl, who);
  const to = destinationOf(form.get('to'), baseUrl);
  const account = await accountById(store, who.accountId);
  if (!account) return leadToSignIn(baseUrl, to);
  const { isRight, waitSeconds } = await signIn.checkOf(arrival, account, passwordOf(form));
  if (!isRight) return againPage(options, who, { to, ...refusalOf(waitSeconds, 'The password is wrong.') });
  await sessions.prove(who.sessionId);
  return leadTo(baseUrl, to);
}

/** Cut, so that no more is hashed than a password can have. */
export function passwordOf(form: URLSearchParams, field = 'password'): string {
  return [...(form.get(field) ?? '')].slice(0, passwordMax + 1).join('');
}

export interface Said {
  readonly said: Html | null;
  readonly status?: number;
  readonly headers?: RawAnswer['headers'];
}

/** What is said of a password that was not taken. */
export function refusalOf(waitSeconds: number | null, why: string): Said {
  if (waitSeconds === null) return { said: problem(why), status: 422 };
  const minutes = Math.ceil(waitSeconds / 60);
  return {
    said: problem(
      `There were too many failures. Wait ${minutes} min, or sign in on a device that you have used before.`,
    ),
    status: 429,
    headers: { 'retry-after': String(waitSeconds) },
  };
}

async function othersOf(waysIn: readonly WayIn[], to: string, again: SignedIn | null): Promise<Html[]> {
  const all = await Promise.all(waysIn.map((way) => way.html(to, again)));
  return all.filter((way) => way !== null);
}

/** Browsers keep what is `Secure` of servers that nobody on the way can read, and of their own machine. */
function keepsSessions(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

const noSessions = html`<p class="notice warning">
  Your browser keeps no session here, because this address is not encrypted. Who runs this server puts a proxy
  in front of it that speaks TLS, and names its address with <code>--base-url</code>.
</p>`;

async function signInPage(
  { services, waysIn }: SignInPages,
  { to, email = '', said, ...answer }: Said & { to: string; email?: string },
): Promise<RawAnswer> {
  const content = html`${said} ${keepsSessions(services.baseUrl) ? null : noSessions}
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
    ${await othersOf(waysIn, to, null)}
    <p><a href="/reset">Forgot your password?</a></p>`;
  return card('Sign in', content, { ...answer, ...scriptOf(waysIn) });
}

async function againPage(
  { services, waysIn }: SignInPages,
  who: SignedIn,
  { to, said = null, ...answer }: Partial<Said> & { to: string },
): Promise<RawAnswer> {
  const account = await accountById(services.store, who.accountId);
  const byPassword = html`<form method="post" action="/sign-in/again">
    ${hidden('to', to)}${hidden('form_token', who.formToken)}
    <input type="text" name="email" value="${who.email}" autocomplete="username" hidden />
    <label>Password<input type="password" name="password" autocomplete="current-password" required /></label>
    <button>Continue</button>
  </form>`;
  const content = html`<p>What comes next is sensitive. Prove once more that you are ${who.name}.</p>
    ${said} ${account?.passwordHash ? byPassword : null} ${await othersOf(waysIn, to, who)}
    <p><a href="/account">Back to the account</a></p>`;
  return card('Is it you?', content, { ...answer, ...scriptOf(waysIn) });
}
