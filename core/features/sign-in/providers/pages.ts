// External providers on the sign-in page and on the account page, and the routes that redirect to them,
// process their response, and link and unlink accounts.
import { html, type Html, readForm } from '../../../kernel/html.ts';
import type { RawAnswer, RawRequest, Route } from '../../../kernel/http/route.ts';
import { type AccountSection, changeRoute, noticeOf } from '../account/page.ts';
import { card, hidden, isFormTokenOf, leadTo, pageRoute, destinationOf, reachedUrl } from '../page-parts.ts';
import type { WayIn } from '../page.ts';
import type { LinkedAccount, Links } from './links.ts';
import type { OutsideSignIn } from './outside.ts';
import { emailKeyOf } from '../../people/index.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { afterJoining, forgetLink, openedLink } from '../join.ts';
import type { SignInParts } from '../runtime.ts';

type Offered = OutsideSignIn['providers'];

/**
 * Offers all providers for a sign-in, and only the linked ones to a person who confirms their identity. Providers
 * return browsers to the base URL only, so none is offered under another loopback name.
 */
export function outsideWayIn(providers: Offered, links: Links): WayIn {
  return {
    async html(to, again, request) {
      if (!isAtBaseUrl(request)) return null;
      const linked = again && new Set((await links.of(again.accountId)).map(({ issuer }) => issuer));
      const offered = linked ? providers.filter(({ issuer }) => linked.has(issuer)) : providers;
      if (offered.length === 0) return null;
      return html`${offered.map(
        ({ key, name }) =>
          html`<form method="post" action="/sign-in/with/${key}">
            ${hidden('to', to)}${again && hidden('form_token', again.formToken)}
            <button class="plain">Continue with ${name}</button>
          </form>`,
      )}`;
    },
  };
}

export function outsideSection(providers: Offered, links: Links): AccountSection {
  return {
    says: {
      linked: 'The accounts are linked. You can now sign in with either.',
      unlinked: 'The accounts are no longer linked.',
      'linked-last':
        'This linked account is the only way to sign in to your account. Set a password or add a passkey first.',
    },
    async html(who, request) {
      const linked = await links.of(who.accountId);
      if (providers.length === 0 && linked.length === 0) return html``;
      const token = hidden('form_token', who.formToken);
      const offered = isAtBaseUrl(request) ? providers : [];
      const free = offered.filter(({ issuer }) => linked.every((one) => one.issuer !== issuer));
      const offers = free.map(
        ({ key, name }) =>
          html`<form method="post" action="/account/linked/${key}" class="row">
            ${token}<button class="plain">Link an account at ${name}</button>
          </form>`,
      );
      const nameOf = ({ issuer }: LinkedAccount): string =>
        providers.find((one) => one.issuer === issuer)?.name ?? new URL(issuer).host;
      return html`<section aria-labelledby="linked">
        <h2 id="linked">Linked accounts</h2>
        <p>Sign in with an account at another provider.</p>
        ${
          linked.length > 0 &&
          html`<ul class="plain">
            ${linked.map((one) => itemOf(one, nameOf(one), token))}
          </ul>`
        }
        <div class="actions">${offers}</div>
      </section>`;
    },
  };
}

function isAtBaseUrl(request: RawRequest): boolean {
  return reachedUrl(request, request.baseUrl) === request.baseUrl;
}

function itemOf({ id, displayName }: LinkedAccount, provider: string, token: Html): Html {
  return html`<li>
    <strong>${provider}</strong> ${displayName}
    <form method="post" action="/account/unlink" class="inline">
      ${token}${hidden('id', id)}<button class="danger" aria-label="Unlink ${displayName} at ${provider}">
        Unlink
      </button>
    </form>
  </li>`;
}

/**
 * Returns a page that sends the browser to a provider. A redirect would fail: the CSP allows forms to submit
 * only to this server, and browsers apply that to redirects of forms as well (CSP Level 3 §6.4.1), including
 * further redirects of the provider.
 */
function leavingPage(name: string, address: string, cookie: string): RawAnswer {
  return card(
    `Continue to ${name}`,
    html`<p><a class="button" href="${address}">Continue to ${name}</a></p>`,
    {
      headers: { refresh: `0;url=${address}`, 'set-cookie': [cookie] },
    },
  );
}

export function outsideRoutes(parts: SignInParts): Route[] {
  return [leaveRoute(parts), returnRoute(parts), ...linkRoutes(parts)];
}

function leaveRoute({ services, sessions, outside }: SignInParts): Route {
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

function returnRoute({ services, sessions, challenges, signIn, outside, proofs }: SignInParts): Route {
  const { baseUrl } = services;
  const forget = challenges.forgetCookie('outside');
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

function linkRoutes(parts: SignInParts): Route[] {
  const { outside, links, services } = parts;
  return [
    ...outside.providers.map(({ key }) =>
      changeRoute(
        parts,
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
      parts,
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
