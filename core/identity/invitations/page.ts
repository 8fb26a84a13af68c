// The page behind an invitation: a person makes an account and takes the seat with it, or takes it with the account they have.
import { readForm } from '../../html/form.ts';
import { cookieLine, cookieOf } from '../../html/cookie.ts';
import { html, type Html } from '../../html/html.ts';
import type { Arrival, RawAnswer, Route } from '../../http/route.ts';
import type { Services } from '../../context.ts';
import { addressAdvice, addressKey } from '../../lib/address.ts';
import { emailKeyOf, isAddressClaimed, isAddressTaken, newAccount } from '../accounts/accounts.ts';
import type { Proofs } from '../accounts/proof.ts';
import type { Passwords } from '../accounts/passwords.ts';
import { newPasswordField } from '../accounts/password-field.ts';
import { passwordProblem } from '../accounts/password-rules.ts';
import { faultOfShownName, shownNameMax } from '../../lib/shown-name.ts';
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
  readonly proofs: Proofs;
}

/** Keeps the link while somebody signs in to the account that they have: it stands in no further address. */
const cookie = 'tatami-join';
const keptSeconds = 3_600;
const openedPath = '/join';
const joinedPath = '/account';

/** `Set-Cookie` line that forgets the opened link. */
export const forgetLink = cookieLine(cookie, '', 0);

/** Destination of a newcomer who took the seat: the page that offered it has nothing left to offer. */
export const afterJoining = (to: string): string => (to === openedPath ? joinedPath : to);

/** What is wrong with a name or an address that a person gave; null for nothing. */
export function aboutProblem({ name, email }: { name: string; email: string }): string | null {
  const wrong = faultOfShownName(name);
  if (wrong !== null) return `The name ${wrong}. Give a name of 1 to ${shownNameMax} visible characters.`;
  return addressKey(email) === null ? addressAdvice : null;
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
        path: openedPath,
        name: 'join.signed-in',
        summary: 'Take the seat of the invitation that was opened before signing in',
      },
      (arrival) => show(options, arrival, keptToken(arrival)),
    ),
    pageRoute(
      { method: 'POST', path: openedPath, name: 'join.take-signed-in', summary: 'Take that seat' },
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
      return withCookies(leadToSignIn(baseUrl, openedPath), [keeping]);
    case 'other-account':
      if (who) await sessions.end(who.accountId, who.sessionId);
      return withCookies(leadToSignIn(baseUrl, openedPath), [keeping, sessions.forgetCookie]);
    default:
      return who ? takeWith(options, invitation, who) : makeAccount(options, arrival, invitation, form);
  }
}

function withCookies(answer: RawAnswer, cookies: readonly string[]): RawAnswer {
  return { ...answer, headers: { ...answer.headers, 'set-cookie': cookies } };
}

async function takeWith(
  { services, invitations, proofs }: JoinPages,
  invitation: Invitation,
  who: SignedIn,
): Promise<RawAnswer> {
  if (seatIn(invitation, who)) return takePage(invitation, who);
  const { isMailed, emailKey } = invitation;
  if (isMailed && emailKey !== null) await proofs.note(who.accountId, emailKey, { sessionId: who.sessionId });
  const taken = await invitations.take(invitation, { id: who.accountId });
  if (taken === 'used') return noInvitation();
  if (taken !== 'taken') return takePage(invitation, who, busy);
  return leadTo(services.baseUrl, joinedPath, [forgetLink]);
}

const busy = 'Somebody changed this at the same time. Send it again.';
const knownAddress = 'There is an account with this address. Sign in to it, and take the seat with it.';

async function makeAccount(
  options: JoinPages,
  arrival: Arrival,
  invitation: Invitation,
  form: URLSearchParams,
): Promise<RawAnswer> {
  const { services, passwords, signIn, invitations } = options;
  const about = { name: (form.get('name') ?? '').trim(), email: (form.get('email') ?? '').trim() };
  const password = passwordOf(form);
  const wrong = await problemWith(invitations, invitation, { ...about, password });
  if (wrong !== null) return newPage(invitation, { ...about, wrong });
  const key = emailKeyOf(about.email);
  const isProven = invitation.isMailed && invitation.emailKey === key;
  const claim = await claimOn(services.store, key, { invitation, isProven });
  if (claim === 'taken' || (claim === 'open' && form.get('another') !== 'yes'))
    return newPage(invitation, { ...about, wrong: knownAddress, isOpen: claim === 'open' });
  const passwordHash = await passwords.hash(arrival.peer, password);
  const account = newAccount(services, { ...about, passwordHash, isProven });
  const taken = await invitations.take(invitation, account, { name: about.name });
  if (taken === 'used') return noInvitation();
  if (taken !== 'taken')
    return newPage(invitation, { ...about, wrong: taken === 'busy' ? busy : knownAddress });
  return signIn.finish(account.id, arrival, joinedPath);
}

/** What is wrong with what a newcomer gives; null for nothing. */
async function problemWith(
  invitations: Invitations,
  invitation: Invitation,
  { name, email, password }: { readonly name: string; readonly email: string; readonly password: string },
): Promise<string | null> {
  return (
    aboutProblem({ name, email }) ??
    passwordProblem(password, [name, email]) ??
    invitations.problemOfName(invitation, name)
  );
}

/**
 * State of an address for a newcomer: `taken` by another account; `open`, where another account only claims it and the newcomer may too.
 * @param isProven whether the newcomer proves it now
 */
async function claimOn(
  store: Services['store'],
  key: string,
  { invitation, isProven }: { readonly invitation: Invitation; readonly isProven: boolean },
): Promise<'taken' | 'open' | 'free'> {
  // In a workspace one member has an address: the one whom an admin gave it, or else the first who claims it.
  const isInvited = isProven || invitation.emailKey === key;
  if (await isAddressTaken(store, key, '', isInvited ? [] : [invitation.workspaceId])) return 'taken';
  return !isProven && (await isAddressClaimed(store, key)) ? 'open' : 'free';
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
    { status: 404, headers: { 'set-cookie': forgetLink } },
  );
}

function newPage(
  invitation: Invitation,
  { name, email, wrong, isOpen = false }: { name?: string; email?: string; wrong?: string; isOpen?: boolean },
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
      ${
        isOpen &&
        html`<label class="choice"
          ><input type="checkbox" name="another" value="yes" required /> That account is not mine. Make
          another one.</label
        >`
      }
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
    ${
      invitation.isMailed &&
      invitation.emailKey === emailKeyOf(who.email) &&
      html`<p>
        If this is the first time that this address is confirmed, joining removes passkeys, one-time codes,
        linked accounts, other sessions and access of apps that were set up before.
      </p>`
    }
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
