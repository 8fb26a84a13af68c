// Sections of the account page for name and e-mail address, and for the verification of the address. The
// address identifies the account at sign-in, so a change requires a recent authentication.
import { html } from '../../../kernel/html.ts';
import type { Route, RawAnswer } from '../../../kernel/http/route.ts';
import { emailKeyOf, isAddressTaken, renameOps, accountById, type Account } from '../../people/index.ts';
import { addressAdvice } from '../../../platform/lib/address.ts';
import { aboutProblem } from '../join.ts';
import {
  hidden,
  isFresh,
  leadToProof,
  card,
  leadTo,
  leadToSignIn,
  pageRoute,
  readSignedForm,
} from '../page-parts.ts';
import { changeRoute, type ChangeOptions, noticeOf, type AccountSection } from './page.ts';
import type { SignedIn } from '../sessions.ts';
import type { SignInParts } from '../runtime.ts';

export const profileSection: AccountSection = {
  says: {
    profile: 'Your profile was saved.',
    'profile-wrong': `Enter a name of 1 to 80 visible characters. ${addressAdvice}`,
    'profile-known': 'Another account uses this address. Enter another one.',
  },
  html: async (who) =>
    html`<section aria-labelledby="profile">
      <h2 id="profile">Name and address</h2>
      <form method="post" action="/account/profile">
        ${hidden('form_token', who.formToken)}
        <label
          >Name<input name="name" value="${who.name}" autocomplete="name" maxlength="80" required
        /></label>
        <label
          >E-mail<small>You sign in with this address.</small
          ><input
            type="email"
            name="email"
            value="${who.email}"
            autocomplete="email"
            maxlength="254"
            required
        /></label>
        <div><button>Save</button></div>
      </form>
    </section>`,
};

export function profileRoutes(options: ChangeOptions): Route[] {
  const { store, baseUrl, nowMs } = options.services;
  return [
    changeRoute(
      options,
      { path: 'profile', name: 'account.rename', summary: 'Change the name or the address of an account' },
      async (who, form) => {
        const about = { name: (form.get('name') ?? '').trim(), email: (form.get('email') ?? '').trim() };
        if (aboutProblem(about) !== null) return { wrong: 'profile-wrong' };
        if (about.email !== who.email && !isFresh(who, nowMs())) return leadToProof(baseUrl, '/account');
        const workspaces = who.memberships.map(({ workspaceId }) => workspaceId);
        if (await isAddressTaken(store, emailKeyOf(about.email), who.accountId, workspaces))
          return { wrong: 'profile-known' };
        const ops = renameOps(who.accountId, about.name, about.email, nowMs());
        if (!(await store.commit(ops)).ok) return { wrong: 'profile-known' };
        if (about.email !== who.email)
          noticeOf(options.services, who.email, 'The e-mail address for sign-in was changed.');
        return { done: 'profile' };
      },
    ),
  ];
}

const purpose = 'confirm-address';
const minutes = 30;

const removed =
  'Confirming removes existing passkeys, one-time codes and linked accounts, ends all other sessions and revokes the access of apps, because somebody else may have set them up.';

/**
 * Sends a link to verify the address of the account. The link works only in a session of the account, so that
 * the owner of a mailbox cannot be tricked into verifying another person's account.
 */
export function confirmationSection({ services: { store, mail } }: ChangeOptions): AccountSection {
  return {
    says: {
      'confirm-sent': `We sent a confirmation link to your address. Open it in this browser within ${minutes} minutes.`,
      'confirm-wait': 'Three links were sent to this address within an hour. Try again later.',
      confirmed: 'Your address is confirmed.',
      'confirm-taken':
        'Another account has confirmed this address. Sign in to that account, or enter another address.',
    },
    async html(who) {
      const account = mail && (await accountById(store, who.accountId));
      if (!account || account.isProven) return html``;
      return html`<section aria-labelledby="confirm">
        <h2 id="confirm">Confirm your address</h2>
        <p>Until ${who.email} is confirmed, other people can create accounts with it. ${removed}</p>
        <form method="post" action="/account/confirm-address">
          ${hidden('form_token', who.formToken)}
          <div><button>Send confirmation link</button></div>
        </form>
      </section>`;
    },
  };
}

export function confirmationRoutes(parts: SignInParts): Route[] {
  const { services, sessions, resetLimits } = parts;
  const { store, mail, baseUrl } = services;
  return [
    changeRoute(
      parts,
      {
        path: 'confirm-address',
        name: 'account.send-confirmation',
        summary: 'Send a link that confirms the address',
      },
      async (who, _, { peer }) => {
        const account = await accountById(store, who.accountId);
        if (!mail || !account || account.isProven) return leadTo(baseUrl, '/account');
        if (!resetLimits.take(account.emailKey, peer)) return { wrong: 'confirm-wait' };
        mail.post({
          to: account.email,
          subject: 'Confirm your address',
          text: [
            `Confirm the address of your account on ${baseUrl}. Open this link within ${minutes} minutes, in the browser in which you are signed in:`,
            `${baseUrl}/confirm/${tokenFor(parts, account)}`,
            'If you have no account there, ignore this message.',
          ].join('\n\n'),
        });
        return { done: 'confirm-sent' };
      },
    ),
    pageRoute(
      {
        method: 'GET',
        path: '/confirm/{token}',
        name: 'account.confirm-page',
        summary: 'Confirm an address',
      },
      async ({ headers }, token) => {
        const who = await sessions.find(headers);
        if (!who) return leadToSignIn(baseUrl, `/confirm/${encodeURIComponent(token)}`);
        return (await accountFor(parts, token, who)) ? confirmPage(who) : noConfirmation();
      },
    ),
    pageRoute(
      { method: 'POST', path: '/confirm/{token}', name: 'account.confirm', summary: 'Confirm an address' },
      async (request, token) => {
        const who = await sessions.find(request.headers);
        if (!who) return leadToSignIn(baseUrl, '/account');
        await readSignedForm(request, baseUrl, who);
        const account = await accountFor(parts, token, who);
        if (!account) return noConfirmation();
        await parts.proofs.note(account.id, account.emailKey, { sessionId: who.sessionId });
        const { isProven } = (await accountById(store, account.id)) ?? account;
        return leadTo(baseUrl, `/account?${isProven ? 'done=confirmed' : 'wrong=confirm-taken'}`);
      },
    ),
  ];
}

/**
 * The signature covers the account, the address and the expiry, so that a change of the address invalidates
 * the token.
 */
function tokenFor({ services: { sealing, nowMs } }: SignInParts, { id, emailKey }: Account): string {
  const until = String(nowMs() + minutes * 60_000);
  return `${until}.${sealing.sign(`${id} ${until} ${emailKey}`, purpose)}`;
}

/** @returns the account of the signed-in person; null if the link is invalid or for another account */
async function accountFor(
  { services: { store, sealing, nowMs } }: SignInParts,
  token: string,
  { accountId }: SignedIn,
): Promise<Account | null> {
  const [until = '', tag = ''] = token.split('.');
  const account = await accountById(store, accountId);
  if (!account || !(nowMs() < Number(until))) return null;
  return sealing.verify(`${account.id} ${until} ${account.emailKey}`, purpose, tag) ? account : null;
}

function confirmPage(who: SignedIn): RawAnswer {
  return card(
    'Confirm your address',
    html`<p>You are signed in as ${who.name} (${who.email}). ${removed}</p>
      <form method="post">
        ${hidden('form_token', who.formToken)}
        <button>Confirm ${who.email}</button>
      </form>`,
    { person: who },
  );
}

function noConfirmation(): RawAnswer {
  return card(
    'This link does not work',
    html`<p>
      This link is older than ${minutes} minutes, or belongs to another account or address.
      <a href="/account">Request a new link</a>.
    </p>`,
    { status: 404 },
  );
}
