// The page behind an invitation: a person makes an account and takes the seat with it, or takes it with the account they have.
import { readForm } from '../../html/form.ts';
import { cookieLine, cookieOf } from '../../html/cookie.ts';
import { html, type Html } from '../../html/html.ts';
import type { Arrival, RawAnswer, Route } from '../../http/route.ts';
import type { Services } from '../../context.ts';
import { accountByEmail, newAccount } from '../accounts/accounts.ts';
import type { Passwords } from '../accounts/passwords.ts';
import { newPasswordField } from '../accounts/password-field.ts';
import { passwordProblem } from '../accounts/password-rules.ts';
import { card, hidden, leadTo, leadToSignIn, pageRoute, problem, readSignedForm } from '../pages.ts';
import type { Sessions, SignedIn } from '../sessions/sessions.ts';
import { passwordOf } from '../sign-in/page.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import { invitationDays, type Invitation, type Invitations } from './invitations.ts';

interface JoinPages {
  readonly services: Pick<Services, 'store' | 'ids' | 'baseUrl' | 'nowMs'>;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly signIn: SignIn;
  readonly invitations: Invitations;
}

/** Keeps the link while somebody signs in to the account that they have: it stands in no further address. */
const cookie = 'tatami-join';
const keptSeconds = 3_600;

const emailPattern = '[^\\s@]+@[^\\s@]+';
const isEmail = (text: string): boolean => text.length <= 254 && new RegExp(`^${emailPattern}$`).test(text);

/** What is wrong with a name or an address that a person gave; null for nothing. */
export function aboutProblem({ name, email }: { name: string; email: string }): string | null {
  if (name === '' || name.length > 80) return 'Give a name of 1 to 80 characters.';
  return isEmail(email) ? null : 'Give an e-mail address, such as ana@acme.example.';
}

export function joinRoutes(options: JoinPages): Route[] {
  return [
    pageRoute(
      { method: 'GET', path: '/join/{token}', name: 'join.page', summary: 'Take the seat of an invitation' },
      (arrival, token) => show(options, arrival, token),
    ),
    pageRoute(
      { method: 'POST', path: '/join/{token}', name: 'join.take', summary: 'Take the seat' },
      (arrival, token) => take(options, arrival, token),
    ),
    pageRoute(
      {
        method: 'GET',
        path: '/join',
        name: 'join.signed-in',
        summary: 'Take the seat of the invitation that was opened before signing in',
      },
      (arrival) => show(options, arrival, keptToken(arrival)),
    ),
    pageRoute(
      { method: 'POST', path: '/join', name: 'join.take-signed-in', summary: 'Take that seat' },
      (arrival) => take(options, arrival, keptToken(arrival)),
    ),
  ];
}

/** The link that this browser has opened and gone from, to sign in. */
export function openedLink(headers: Headers): string | null {
  return cookieOf(headers, cookie);
}

const keptToken = ({ headers }: Arrival): string => openedLink(headers) ?? '';

async function show(options: JoinPages, { headers }: Arrival, token: string): Promise<RawAnswer> {
  const { sessions, invitations } = options;
  const [invitation, who] = await Promise.all([invitations.find(token), sessions.find(headers)]);
  if (!invitation) return noInvitation();
  return who ? takePage(invitation, who) : newPage(invitation, {});
}

async function take(options: JoinPages, arrival: Arrival, token: string): Promise<RawAnswer> {
  const { services, sessions, invitations } = options;
  const { baseUrl } = services;
  const who = await sessions.find(arrival.headers);
  const form = who ? await readSignedForm(arrival, baseUrl, who) : await readForm(arrival, baseUrl);
  const invitation = await invitations.find(token);
  if (!invitation) return noInvitation();
  const keeping = cookieLine(cookie, token, keptSeconds);
  switch (form.get('do')) {
    case 'sign-in':
      return withCookies(leadToSignIn(baseUrl, '/join'), [keeping]);
    case 'other-account':
      if (who) await sessions.end(who.accountId, who.sessionId);
      return withCookies(leadToSignIn(baseUrl, '/join'), [keeping, sessions.forgetCookie]);
    default:
      return who ? takeWith(options, invitation, who) : makeAccount(options, arrival, invitation, form);
  }
}

function withCookies(answer: RawAnswer, cookies: readonly string[]): RawAnswer {
  return { ...answer, headers: { ...answer.headers, 'set-cookie': cookies } };
}

async function takeWith(
  { services, invitations }: JoinPages,
  invitation: Invitation,
  who: SignedIn,
): Promise<RawAnswer> {
  if (seatIn(invitation, who)) return takePage(invitation, who);
  const taken = await invitations.take(invitation, { id: who.accountId });
  if (taken === 'used') return noInvitation();
  if (taken !== 'taken') return takePage(invitation, who, busy);
  return leadTo(services.baseUrl, '/account', [cookieLine(cookie, '', 0)]);
}

const busy = 'Somebody changed this at the same time. Send it again.';
const knownAddress = 'There is an account with this address. Sign in to it, and take the seat with it.';

async function makeAccount(
  { services, passwords, signIn, invitations }: JoinPages,
  arrival: Arrival,
  invitation: Invitation,
  form: URLSearchParams,
): Promise<RawAnswer> {
  const about = { name: (form.get('name') ?? '').trim(), email: (form.get('email') ?? '').trim() };
  const password = passwordOf(form);
  const wrong = aboutProblem(about) ?? passwordProblem(password, [about.name, about.email]);
  if (wrong !== null) return newPage(invitation, { ...about, wrong });
  if (await accountByEmail(services.store, about.email))
    return newPage(invitation, { ...about, wrong: knownAddress });
  const account = newAccount(services, { ...about, passwordHash: await passwords.hash(password) });
  const taken = await invitations.take(invitation, account, { name: about.name });
  if (taken === 'used') return noInvitation();
  if (taken !== 'taken')
    return newPage(invitation, { ...about, wrong: taken === 'busy' ? busy : knownAddress });
  return signIn.finish(account.id, arrival, '/account');
}

/** The same for a link that never was, so that nobody learns which there are. */
function noInvitation(): RawAnswer {
  return card(
    'This link does not work',
    html`<p>
        It was used already, was replaced by a newer one, has expired after ${invitationDays} days, or was not
        copied whole.
      </p>
      <p>
        If you took the seat, <a href="/sign-in">sign in</a>. Otherwise ask whoever sent the link for a new
        one. Who runs this server makes one with <code>tatami members invite --data-dir</code>.
      </p>`,
    { status: 404, headers: { 'set-cookie': cookieLine(cookie, '', 0) } },
  );
}

function newPage(
  invitation: Invitation,
  { name, email, wrong }: { name?: string; email?: string; wrong?: string },
): RawAnswer {
  const { member } = invitation;
  const content = html`${welcome(invitation)} ${wrong === undefined ? null : problem(wrong)}
    <form method="post">
      <label
        >Name<input name="name" value="${name ?? member.name}" autocomplete="name" maxlength="80" required
      /></label>
      <label
        >E-mail<input
          type="email"
          name="email"
          value="${email ?? member.email}"
          autocomplete="username"
          maxlength="254"
          required
      /></label>
      ${newPasswordField('Password')}
      <button>Make the account</button>
    </form>
    <form method="post">
      ${hidden('do', 'sign-in')}
      <button class="plain">I have an account on this server</button>
    </form>`;
  return card(`Join ${invitation.workspaceName}`, content, wrong === undefined ? {} : { status: 422 });
}

function takePage(invitation: Invitation, who: SignedIn, wrong?: string): RawAnswer {
  const { workspaceName } = invitation;
  const token = hidden('form_token', who.formToken);
  const taking = html`<p>You are signed in as ${who.name} (${who.email}).</p>
    <form method="post">
      ${token}
      <button>Join as ${who.name}</button>
    </form>`;
  const other = seatIn(invitation, who);
  const content = html`${welcome(invitation)} ${wrong === undefined ? null : problem(wrong)}
    ${
      other
        ? problem(
            `Your account ${who.email} is a member of ${workspaceName} already. Take this seat with another one.`,
          )
        : taking
    }
    <form method="post">
      ${token}${hidden('do', 'other-account')}
      <button class="plain">Sign in to another account</button>
    </form>`;
  return card(`Join ${workspaceName}`, content);
}

function seatIn({ workspaceId }: Invitation, { seats }: SignedIn): boolean {
  return seats.some((seat) => seat.workspaceId === workspaceId);
}

function welcome({ invitedBy, workspaceName, member }: Invitation): Html {
  return html`<p>${invitedBy} invites you to the workspace ${workspaceName}, as ${member.role}.</p>`;
}
