// Routes that redirect to an external provider, process the response, and link and unlink external accounts.
import { type IdentityDeps, emailKeyOf } from '../../people/index.ts';
import { readForm } from '../../../kernel/html.ts';
import type { RawAnswer, Route } from '../../../kernel/http/route.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { changeRoute } from '../account/change.ts';
import type { Proofs } from '../proof.ts';
import { noticeOf } from '../account/change.ts';
import type { Ceremonies } from '../challenges.ts';
import { afterJoining, forgetLink, openedLink } from '../join.ts';
import { isFormTokenOf, leadTo, pageRoute } from '../page-parts.ts';
import type { Sessions } from '../sessions.ts';
import { destinationOf } from '../destination.ts';
import type { SignIn } from '../sign-in.ts';
import type { Links } from './links.ts';
import type { OutsideSignIn } from './outside.ts';
import { leavingPage } from './pages.ts';

export interface OutsidePages {
  readonly services: IdentityDeps;
  readonly sessions: Sessions;
  readonly ceremonies: Ceremonies;
  readonly signIn: SignIn;
  readonly outside: OutsideSignIn;
  readonly links: Links;
  readonly proofs: Proofs;
}

export function outsideRoutes(options: OutsidePages): Route[] {
  return [leaveRoute(options), returnRoute(options), ...linkRoutes(options)];
}

function leaveRoute({ services, sessions, outside }: OutsidePages): Route {
  const { baseUrl } = services;
  return pageRoute(
    {
      method: 'POST',
      path: '/sign-in/with/{token}',
      name: 'sign-in.leave',
      summary: 'Redirect to an external provider',
    },
    async (request, key) => {
      const form = await readForm(request, baseUrl);
      const to = destinationOf(form.get('to'), baseUrl);
      const formToken = form.get('form_token');
      const who = formToken === null ? null : await sessions.find(request.headers);
      if (formToken !== null && !(who && isFormTokenOf(who, formToken)))
        throw new ApiError('forbidden', 'You are no longer signed in. Sign in and try again.');
      const leaving = { key, intent: who ? 'prove' : 'sign_in', to } as const;
      const { name, address, cookie } = await outside.leave(leaving, who?.accountId ?? null);
      return leavingPage(name, address, cookie);
    },
  );
}

function returnRoute({ services, sessions, ceremonies, signIn, outside, proofs }: OutsidePages): Route {
  const { baseUrl } = services;
  const forget = ceremonies.forgetCookie('outside');
  return pageRoute(
    {
      method: 'GET',
      path: '/sign-in/with/{token}/return',
      name: 'sign-in.return',
      summary: 'Handle the return from an external provider',
    },
    async (request, key) => {
      const who = await sessions.find(request.headers);
      const now = { who, link: openedLink(request.headers) };
      const { intent, accountId, isNew, provenEmail, issuer, to } = await outside.comeBack(key, request, now);
      if (intent === 'sign_in') {
        const answer = await signIn.proceed(accountId, request, isNew ? afterJoining(to) : to);
        return alsoSetting(answer, isNew ? [forget, forgetLink] : [forget]);
      }
      if (intent === 'prove' && who) await sessions.prove(who.sessionId);
      if (intent === 'link' && who) {
        if (provenEmail !== null)
          await proofs.note(who.accountId, emailKeyOf(provenEmail), { sessionId: who.sessionId, issuer });
        noticeOf(
          services,
          who.email,
          'An account at another provider was linked and can now be used to sign in.',
        );
      }
      return leadTo(baseUrl, destinationOf(to, baseUrl), [forget]);
    },
  );
}

function linkRoutes(options: OutsidePages): Route[] {
  const { outside, links, services } = options;
  return [
    ...outside.providers.map(({ key }) =>
      changeRoute(
        options,
        {
          path: `linked/${key}`,
          isSensitive: true,
          name: `account.link_${key}`,
          summary: 'Link an account at an external provider',
        },
        async ({ accountId }) => {
          const leaving = { key, intent: 'link', to: '/account?done=linked' } as const;
          const { name, address, cookie } = await outside.leave(leaving, accountId);
          return leavingPage(name, address, cookie);
        },
      ),
    ),
    changeRoute(
      options,
      {
        path: 'unlink',
        isSensitive: true,
        name: 'account.unlink',
        summary: 'Unlink an account at an external provider',
      },
      async ({ accountId, email }, form) => {
        if (!(await links.remove(accountId, form.get('id') ?? ''))) return { wrong: 'linked-last' };
        noticeOf(services, email, 'An account at another provider was unlinked.');
        return { done: 'unlinked' };
      },
    ),
  ];
}

function alsoSetting(answer: RawAnswer, cookies: readonly string[]): RawAnswer {
  const { headers = {} } = answer;
  return {
    ...answer,
    headers: { ...headers, 'set-cookie': [...[headers['set-cookie'] ?? []].flat(), ...cookies] },
  };
}
