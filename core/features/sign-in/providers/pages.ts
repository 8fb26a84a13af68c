// External providers on the sign-in page and on the account page.
import { html, type Html } from '../../../kernel/html.ts';
import type { RawAnswer } from '../../../kernel/http/route.ts';
import type { AccountSection } from '../account/page.ts';
import { card, hidden } from '../page-parts.ts';
import type { WayIn } from '../page.ts';
import type { LinkedAccount, Links } from './links.ts';
import type { OutsideSignIn } from './outside.ts';

type Offered = OutsideSignIn['providers'];

/** Offers all providers for a sign-in, and only the linked ones to a person who confirms their identity. */
export function outsideWayIn(providers: Offered, links: Links): WayIn {
  return {
    async html(to, again) {
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
    async html(who) {
      const linked = await links.of(who.accountId);
      if (providers.length === 0 && linked.length === 0) return html``;
      const token = hidden('form_token', who.formToken);
      const free = providers.filter(({ issuer }) => linked.every((one) => one.issuer !== issuer));
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
export function leavingPage(name: string, address: string, cookie: string): RawAnswer {
  return card(
    `Continue to ${name}`,
    html`<p><a class="button" href="${address}">Continue to ${name}</a></p>`,
    {
      headers: { refresh: `0;url=${address}`, 'set-cookie': [cookie] },
    },
  );
}
