// Page of an invitation link, on which a person accepts with a new or an existing account.
import { readForm, cookieLine, cookieOf, html, type Html } from '../../kernel/html.ts';
import type { RawRequest, RawAnswer, Route } from '../../kernel/http/route.ts';
import type { Store } from '../../platform/store/store.ts';
import {
  emailKeyOf,
  isAddressClaimed,
  isAddressTaken,
  newAccount,
  invitationDays,
  type Invitation,
  type Invitations,
} from '../people/index.ts';
import { addressAdvice, addressKey } from '../../platform/lib/address.ts';
import { passwordProblem } from './passwords.ts';
import { displayNameFault, displayNameMax } from '../../platform/lib/display-name.ts';
import {
  card,
  hidden,
  leadOut,
  leadTo,
  pageRoute,
  problem,
  readSignedForm,
  signInPath,
  newPasswordField,
} from './page-parts.ts';
import type { SignedIn } from './sessions.ts';
import { passwordOf } from './page.ts';
import type { SignInParts } from './runtime.ts';

/**
 * Cookie with the token while a person signs in to an existing account, so that the token is in no other URL.
 */
const cookie = 'tatami-join';
const cookieSeconds = 3_600;
const openedPath = '/join';
const joinedPath = '/welcome';

export const forgetLink = cookieLine(cookie, '', 0);

/** Returns the destination after joining: the welcome page instead of the used invitation. */
export const afterJoining = (to: string): string => (to === openedPath ? joinedPath : to);

/** Returns an error message for an invalid name or address; null for valid ones. */
export function aboutProblem({ name, email }: { name: string; email: string }): string | null {
  const wrong = displayNameFault(name);
  if (wrong !== null) return `The name ${wrong}. Enter a name of 1 to ${displayNameMax} visible characters.`;
  return addressKey(email) === null ? addressAdvice : null;
}

export function joinRoutes(parts: SignInParts): Route[] {
  return [
    pageRoute(
      { method: 'GET', path: '/join/{token}', name: 'join.page', summary: 'Show an invitation' },
      (request, token) => show(parts, request, token),
    ),
    pageRoute(
      { method: 'POST', path: '/join/{token}', name: 'join.take', summary: 'Accept an invitation' },
      (request, token) => take(parts, request, token),
    ),
    pageRoute(
      {
        method: 'GET',
        path: openedPath,
        name: 'join.signed-in',
        summary: 'Show the invitation that was opened before signing in',
      },
      (request) => show(parts, request, cookieToken(request)),
    ),
    pageRoute(
      {
        method: 'POST',
        path: openedPath,
        name: 'join.take-signed-in',
        summary: 'Accept the invitation that was opened before signing in',
      },
      (request) => take(parts, request, cookieToken(request)),
    ),
  ];
}

/** Returns the token of the invitation that the browser opened before the sign-in; null for none. */
export function openedLink(headers: Headers): string | null {
  return cookieOf(headers, cookie);
}

const cookieToken = ({ headers }: RawRequest): string => openedLink(headers) ?? '';

async function show(parts: SignInParts, { headers }: RawRequest, token: string): Promise<RawAnswer> {
  const { sessions, invitations } = parts;
  const [invitation, who] = await Promise.all([invitations.find(token), sessions.find(headers)]);
  if (!invitation) return noInvitation();
  return who ? takePage(invitation, who) : newPage(invitation, {});
}

async function take(parts: SignInParts, request: RawRequest, token: string): Promise<RawAnswer> {
  const { services, sessions, invitations } = parts;
  const { baseUrl } = services;
  const who = await sessions.find(request.headers);
  const form = who ? await readSignedForm(request, baseUrl, who) : await readForm(request, baseUrl);
  const invitation = await invitations.find(token);
  if (!invitation) return noInvitation();
  const linkCookie = cookieLine(cookie, token, cookieSeconds);
  switch (form.get('do')) {
    case 'sign-in':
      return leadTo(baseUrl, signInPath(openedPath), [linkCookie]);
    case 'other-account':
      if (who) await sessions.end(who.accountId, who.sessionId);
      return leadOut(baseUrl, signInPath(openedPath), [linkCookie, sessions.forgetCookie]);
    default:
      return who ? takeWith(parts, invitation, who) : makeAccount(parts, request, invitation, form);
  }
}

async function takeWith(
  { services, invitations, proofs }: SignInParts,
  invitation: Invitation,
  who: SignedIn,
): Promise<RawAnswer> {
  if (isMemberIn(invitation, who)) return takePage(invitation, who);
  const { isMailed, emailKey } = invitation;
  if (isMailed && emailKey !== null) await proofs.note(who.accountId, emailKey, { sessionId: who.sessionId });
  const taken = await invitations.take(invitation, { id: who.accountId });
  if (taken === 'used') return noInvitation();
  if (taken !== 'taken') return takePage(invitation, who, busy);
  return leadTo(services.baseUrl, joinedPath, [forgetLink]);
}

const busy = 'The invitation or the member was changed at the same time. Try again.';
const knownAddress = 'An account with this address exists. Sign in to it to accept the invitation.';

async function makeAccount(
  parts: SignInParts,
  request: RawRequest,
  invitation: Invitation,
  form: URLSearchParams,
): Promise<RawAnswer> {
  const { services, passwords, signIn, invitations } = parts;
  const about = { name: (form.get('name') ?? '').trim(), email: (form.get('email') ?? '').trim() };
  const password = passwordOf(form);
  const wrong = await problemWith(invitations, invitation, { ...about, password });
  if (wrong !== null) return newPage(invitation, { ...about, wrong });
  const key = emailKeyOf(about.email);
  const isProven = invitation.isMailed && invitation.emailKey === key;
  const claim = await claimOn(services.store, key, { invitation, isProven });
  if (claim === 'taken' || (claim === 'open' && form.get('another') !== 'yes'))
    return newPage(invitation, { ...about, wrong: knownAddress, isOpen: claim === 'open' });
  const passwordHash = await passwords.hash(request.peer, password);
  const account = newAccount(services, { ...about, passwordHash, isProven });
  const taken = await invitations.take(invitation, account, { name: about.name });
  if (taken === 'used') return noInvitation();
  if (taken !== 'taken')
    return newPage(invitation, { ...about, wrong: taken === 'busy' ? busy : knownAddress });
  return signIn.finish(account.id, request, joinedPath);
}

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
 * Returns the state of an address for a new account: `taken` if another account prevents its use; `open` if
 * another account has the unverified address, which the new account may share; `free` otherwise.
 * @param isProven true if the invitation verifies the address for the new account
 */
async function claimOn(
  store: Store,
  key: string,
  { invitation, isProven }: { readonly invitation: Invitation; readonly isProven: boolean },
): Promise<'taken' | 'open' | 'free'> {
  // Within a workspace only one account may use an address: the invited one, else the first one.
  const isInvited = isProven || invitation.emailKey === key;
  if (await isAddressTaken(store, key, '', isInvited ? [] : [invitation.workspaceId])) return 'taken';
  return !isProven && (await isAddressClaimed(store, key)) ? 'open' : 'free';
}

/** Responds equally to every invalid link, so that the response does not disclose which links exist. */
function noInvitation(): RawAnswer {
  return card(
    'This link does not work',
    html`<p>
        This link was already used, replaced by a newer one, is older than ${invitationDays} days, or was not
        copied completely.
      </p>
      <p>
        If you have joined already, <a href="/sign-in">sign in</a>. Otherwise ask the sender for a new link.
        The server administrator can create one with <code>tatami members invite --data-dir</code>.
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
          ><input type="checkbox" name="another" value="yes" required /> That account is not mine. Create a
          new one.</label
        >`
      }
      <button>Create account</button>
    </form>
    <form method="post">
      ${hidden('do', 'sign-in')}
      <button class="plain">I already have an account</button>
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
        If your address was not confirmed before, joining confirms it. This removes existing passkeys,
        one-time codes and linked accounts, ends all other sessions and revokes the access of apps.
      </p>`
    }
    <form method="post">
      ${token}
      <button>Join as ${who.name}</button>
    </form>`;
  const other = isMemberIn(invitation, who);
  const content = html`${welcome(invitation)} ${wrong === undefined ? null : problem(wrong)}
    ${
      other
        ? problem(
            `Your account ${who.email} is a member of ${workspaceName} already. Use another account for this invitation.`,
          )
        : taking
    }
    <form method="post">
      ${token}${hidden('do', 'other-account')}
      <button class="plain">Use another account</button>
    </form>`;
  return card(`Join ${workspaceName}`, content, { person: who });
}

function isMemberIn({ workspaceId }: Invitation, { memberships }: SignedIn): boolean {
  return memberships.some((membership) => membership.workspaceId === workspaceId);
}

function welcome({ invitedBy, workspaceName, member }: Invitation): Html {
  return html`<p>${invitedBy} invites you to the workspace ${workspaceName}, as ${member.role}.</p>`;
}
