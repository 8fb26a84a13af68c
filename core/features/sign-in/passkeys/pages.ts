// Passkeys on the sign-in page and on the account page.
import { html, type Html } from '../../../kernel/html.ts';
import type { AccountSection } from '../account/page.ts';
import { hidden } from '../page-parts.ts';
import type { WayIn } from '../page.ts';
import { passkeyNameMax, type Passkey, type Passkeys } from './passkeys.ts';
import { passkeyForm, passkeyScript } from './script.ts';

/**
 * Offers no passkey if browsers do not support passkeys at the base URL, or if a person without passkeys
 * confirms their identity.
 */
export function passkeyWayIn(passkeys: Passkeys): WayIn {
  return {
    script: passkeyScript,
    async html(to, again) {
      if (!passkeys.ceremonies) return null;
      if (again && (await passkeys.of(again.accountId)).length === 0) return null;
      return passkeyForm(
        'get',
        '/sign-in/passkey',
        html`${hidden('to', to)}${again && hidden('form_token', again.formToken)}
          <button class="plain">Use a passkey</button>`,
      );
    },
  };
}

export function passkeySection(passkeys: Passkeys): AccountSection {
  return {
    script: passkeyScript,
    says: {
      'passkey-added': 'The passkey was added. You can now sign in with it.',
      'passkey-renamed': 'The passkey was renamed.',
      'passkey-removed': 'The passkey was removed from your account. Delete it from your device too.',
      'passkey-last':
        'This passkey is the only way to sign in to your account. Set a password or add another passkey first.',
    },
    async html(who) {
      const all = await passkeys.of(who.accountId);
      const token = hidden('form_token', who.formToken);
      const list = html`<ul class="plain">
        ${all.map((one) => itemOf(one, token))}
      </ul>`;
      return html`<section aria-labelledby="passkeys">
        <h2 id="passkeys">Passkeys</h2>
        <p>
          With a passkey you sign in by unlocking your device, without a password or code. Passkeys protect
          against phishing.
        </p>
        ${all.length > 0 && list} ${passkeys.ceremonies ? addForm(token) : unavailable}
      </section>`;
    },
  };
}

const unavailable = html`<p class="soft">
  Passkeys do not work at the address of this server: browsers require https and a host name instead of an IP
  address.
</p>`;

function addForm(token: Html): Html {
  return html`<noscript><p>Adding a passkey needs JavaScript.</p></noscript> ${passkeyForm(
      'create',
      '/account/passkeys',
      html`${token}
        <label
          >Name of the passkey<small>For example “Phone”.</small
          ><input name="name" maxlength="${passkeyNameMax}" required
        /></label>
        <div><button>Add a passkey</button></div>`,
    )}`;
}

function itemOf({ id, name, createdAt, lastUsedAt }: Passkey, token: Html): Html {
  const used = lastUsedAt === null ? 'not used yet' : `last used on ${dayOf(lastUsedAt)}`;
  return html`<li>
    <strong>${name}</strong> <span class="soft">added on ${dayOf(createdAt)}, ${used}</span>
    <div class="actions">
      <form method="post" action="/account/passkeys/rename" class="row">
        ${token}${hidden('id', id)}
        <input
          name="name"
          value="${name}"
          maxlength="${passkeyNameMax}"
          aria-label="Name of ${name}"
          required
        />
        <button class="plain" aria-label="Rename ${name}">Rename</button>
      </form>
      <form method="post" action="/account/passkeys/remove" class="row">
        ${token}${hidden('id', id)}
        <button class="danger" aria-label="Remove ${name}">Remove</button>
      </form>
    </div>
  </li>`;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
