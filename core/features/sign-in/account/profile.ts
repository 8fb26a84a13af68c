// Section of the account page for name and e-mail address. The address identifies the account at sign-in, so
// a change requires a recent authentication.
import { html } from '../../../kernel/html.ts';
import type { Route } from '../../../kernel/http/route.ts';
import { emailKeyOf, isAddressTaken, renameOps } from '../../people/index.ts';
import { addressAdvice } from '../../../platform/lib/address.ts';
import { aboutProblem } from '../join.ts';
import { hidden, isFresh, leadToProof } from '../page-parts.ts';
import { changeRoute, type ChangeOptions } from './change.ts';
import { noticeOf } from './change.ts';
import type { AccountSection } from './page.ts';

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
        const workspaces = who.seats.map(({ workspaceId }) => workspaceId);
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
