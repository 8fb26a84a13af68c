// Section of the account page that turns one-time codes on and off and renews the recovery codes.
import { renderSVG } from 'uqr';
import { html, trusted, type Html, page } from '../../../kernel/html.ts';
import type { RawAnswer, Route } from '../../../kernel/http/route.ts';
import { changeRoute, noticeOf, type AccountSection } from './page.ts';
import { hidden, isFresh, leadTo, leadToProof, leadToSignIn, pageRoute, problem } from '../page-parts.ts';
import type { SignedIn } from '../sessions.ts';
import { addressOf, type OneTimeCodes } from '../one-time-codes.ts';
import type { SignInParts } from '../runtime.ts';

const setUpPath = '/account/one-time-codes';

export function oneTimeCodesSection(codes: OneTimeCodes): AccountSection {
  return {
    says: {
      'codes-off': 'One-time codes are off. The recovery codes no longer work.',
      'codes-on': 'One-time codes are already on. Turn them off first.',
    },
    async html(who) {
      const { isOn, recoveryCodesLeft } = await codes.of(who.accountId);
      return html`<section aria-labelledby="one-time-codes">
        <h2 id="one-time-codes">One-time codes</h2>
        ${isOn ? onPart(who, recoveryCodesLeft) : offPart(who)}
      </section>`;
    },
  };
}

const button = (who: SignedIn, path: string, words: string, style: 'danger' | 'plain' | null): Html =>
  html`<form method="post" action="${setUpPath}${path}" class="row">
    ${hidden('form_token', who.formToken)}<button class="${style}">${words}</button>
  </form>`;

const offPart = (who: SignedIn): Html =>
  html`<p>
      Sign-in then asks for your password and a six-digit code from an authenticator app, so that a stolen
      password is not enough.
    </p>
    ${button(who, '', 'Turn on one-time codes', null)}`;

const onPart = (who: SignedIn, left: number): Html =>
  html`<p>One-time codes are on. ${left} of 10 recovery codes are left.</p>
    <div class="actions">
      ${button(who, '/recovery-codes', 'Create new recovery codes', 'plain')}
      ${button(who, '/off', 'Turn off one-time codes', 'danger')}
    </div>`;

const sensitiveChange = (path: string, name: string, summary: string) => ({
  path,
  name: `one-time-codes.${name}`,
  summary,
  isSensitive: true,
});

export function oneTimeCodesRoutes(parts: SignInParts): Route[] {
  const { codes, services } = parts;
  const path = 'one-time-codes';
  return [
    changeRoute(
      parts,
      sensitiveChange(path, 'begin', 'Start the set-up of one-time codes'),
      async ({ accountId }) =>
        (await codes.begin(accountId)) ? leadTo(services.baseUrl, setUpPath) : { wrong: 'codes-on' },
    ),
    setUpRoute(parts),
    changeRoute(
      parts,
      sensitiveChange(`${path}/confirm`, 'confirm', 'Turn on one-time codes with the first code'),
      async (who, form) => {
        const secret = await codes.waiting(who.accountId);
        if (secret === null) return leadTo(services.baseUrl, '/account');
        const recoveryCodes = await codes.confirm(who.accountId, form.get('code') ?? '');
        if (!recoveryCodes) return setUpPage(who, secret, wrongCode);
        noticeOf(services, who.email, 'One-time codes were turned on.');
        return recoveryPage(recoveryCodes);
      },
    ),
    changeRoute(
      parts,
      sensitiveChange(`${path}/recovery-codes`, 'renew', 'Replace the recovery codes'),
      async ({ accountId, email }) => {
        const recoveryCodes = await codes.renewRecoveryCodes(accountId);
        noticeOf(services, email, 'New recovery codes were created. The old ones no longer work.');
        return recoveryPage(recoveryCodes);
      },
    ),
    changeRoute(
      parts,
      sensitiveChange(`${path}/off`, 'off', 'Turn off one-time codes'),
      async ({ accountId, email }) => {
        await codes.turnOff(accountId);
        noticeOf(services, email, 'One-time codes were turned off. Sign-in no longer asks for a code.');
        return { done: 'codes-off' };
      },
    ),
  ];
}

/** The secret is shown only after a recent authentication, and only until a first code confirms it. */
function setUpRoute({ services, sessions, codes }: SignInParts): Route {
  const { baseUrl, nowMs } = services;
  return pageRoute(
    {
      method: 'GET',
      path: setUpPath,
      name: 'one-time-codes.page',
      summary: 'Show the secret of the one-time codes',
    },
    async ({ headers }) => {
      const who = await sessions.find(headers);
      if (!who) return leadToSignIn(baseUrl, '/account');
      if (!isFresh(who, nowMs())) return leadToProof(baseUrl, setUpPath);
      const secret = await codes.waiting(who.accountId);
      return secret === null ? leadTo(baseUrl, '/account') : setUpPage(who, secret, null);
    },
  );
}

const wrongCode = 'This code is wrong. Check the clock of your device and enter the current code.';

function setUpPage(who: SignedIn, secret: string, wrong: string | null): RawAnswer {
  const svg = renderSVG(addressOf(secret, who.email), { border: 2 });
  const content = html`<ol>
      <li>Open an authenticator app on your phone, or your password manager.</li>
      <li>
        Scan this QR code, or enter the secret next to it.
        <div class="actions">
          <div class="qr" role="img" aria-label="The secret as a scannable image">${trusted(svg)}</div>
          <p>Secret:<br /><code class="code">${secret.replaceAll(/.{4}(?=.)/g, '$& ')}</code></p>
        </div>
      </li>
      <li>Enter the six-digit code that the app shows.</li>
    </ol>
    ${wrong && problem(wrong)}
    <form method="post" action="${setUpPath}/confirm">
      ${hidden('form_token', who.formToken)}
      <label
        >Code<input name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="10" required
      /></label>
      <div class="actions">
        <button>Turn on one-time codes</button> <a class="button plain" href="/account">Cancel</a>
      </div>
    </form>`;
  return page(
    'One-time codes',
    html`<h1>One-time codes</h1>
      ${content}`,
    { person: who, status: wrong === null ? 200 : 422 },
  );
}

function recoveryPage(codes: readonly string[]): RawAnswer {
  return page(
    'Recovery codes',
    html`<h1>Recovery codes</h1>
      <p class="notice done" role="status">One-time codes are on.</p>
      <p>
        If you lose your device, you can sign in with a recovery code instead. Each code works once.
        <strong>The codes are shown only now:</strong> print them, or save them in a password manager.
      </p>
      <ul>
        ${codes.map((code) => html`<li><code class="code">${code}</code></li>`)}
      </ul>
      <p><a class="button" href="/account">I have saved them</a></p>`,
    { person: null },
  );
}
