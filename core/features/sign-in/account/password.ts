// A password change requires the current password and ends all other sessions.
import { html } from '../../../kernel/html.ts';
import type { Route } from '../../../kernel/http/route.ts';
import { accountById, setPasswordOps } from '../../people/index.ts';
import { passwordMax, passwordMin, passwordProblem } from '../passwords.ts';
import { hidden, isFresh, leadToProof, leadToSignIn } from '../page-parts.ts';
import { endSessionsOp, stillSignedInOp } from '../sessions.ts';
import { passwordOf } from '../page.ts';
import { changeRoute, type ChangeOptions, noticeOf, type AccountSection } from './page.ts';
import type { SignInParts } from '../runtime.ts';

export function passwordSection({ services: { store } }: ChangeOptions): AccountSection {
  return {
    says: {
      password:
        'Your password was changed and all other sessions have ended. Apps keep their access; “Sign out everywhere” revokes it.',
      'password-old': 'The current password is wrong, so nothing was changed. Enter it again.',
      'password-wait': 'Too many failed attempts. Try again in a few minutes.',
      'password-weak': `Choose a password of ${passwordMin} to ${passwordMax} characters that is hard to guess, such as a few random words.`,
    },
    async html(who) {
      const account = await accountById(store, who.accountId);
      const present = html`<label
        >Current password<input type="password" name="password" autocomplete="current-password" required
      /></label>`;
      return html`<section aria-labelledby="password">
        <h2 id="password">Password</h2>
        <form method="post" action="/account/password">
          ${hidden('form_token', who.formToken)}
          <input type="text" name="email" value="${who.email}" autocomplete="username" hidden />
          ${account?.passwordHash ? present : null}
          <label
            >New password<small>At least ${passwordMin} characters.</small
            ><input
              type="password"
              name="new_password"
              autocomplete="new-password"
              minlength="${passwordMin}"
              maxlength="${passwordMax}"
              required
          /></label>
          <div><button>Change password</button></div>
        </form>
      </section>`;
    },
  };
}

export function passwordRoutes(parts: SignInParts): Route[] {
  const { services, sessions, passwords, signIn } = parts;
  const { store, baseUrl, nowMs } = services;
  return [
    changeRoute(
      parts,
      { path: 'password', name: 'account.set-password', summary: 'Change the password of an account' },
      async (who, form, request) => {
        const account = await accountById(store, who.accountId);
        if (!account) return leadToProof(baseUrl, '/account');
        if (account.passwordHash === null) {
          if (!isFresh(who, nowMs())) return leadToProof(baseUrl, '/account');
        } else {
          const { isRight, waitSeconds } = await signIn.checkOf(request, account, passwordOf(form));
          if (!isRight) return { wrong: waitSeconds === null ? 'password-old' : 'password-wait' };
        }
        const chosen = passwordOf(form, 'new_password');
        if (passwordProblem(chosen, [who.name, who.email]) !== null) return { wrong: 'password-weak' };
        const hash = await passwords.hash(request.peer, chosen);
        const { ok } = await store.commit([
          stillSignedInOp(who.sessionId),
          ...setPasswordOps(who.accountId, hash, nowMs()),
          endSessionsOp(who.accountId, who.sessionId),
        ]);
        if (!ok) return leadToSignIn(baseUrl, '/account');
        sessions.ended();
        noticeOf(services, who.email, 'The password was changed.');
        return { done: 'password' };
      },
    ),
  ];
}
