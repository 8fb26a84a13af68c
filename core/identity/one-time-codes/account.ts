// One-time codes on the account page: turned on by a first code, turned off, and recovery codes, which are shown once.
import { renderSVG } from 'uqr';
import { html, trusted, type Html } from '../../html/html.ts';
import { page } from '../../html/page.ts';
import type { RawAnswer, Route } from '../../http/route.ts';
import { changeRoute, type ChangeOptions } from '../account/change.ts';
import { noticeOf } from '../account/notices.ts';
import type { AccountSection } from '../account/page.ts';
import { hidden, isFresh, leadTo, leadToProof, leadToSignIn, pageRoute, problem } from '../pages.ts';
import type { SignedIn } from '../sessions/sessions.ts';
import { addressOf } from './codes.ts';
import type { OneTimeCodes } from './one-time-codes.ts';

const setUpPath = '/account/one-time-codes';

export function oneTimeCodesSection(codes: OneTimeCodes): AccountSection {
  return {
    says: {
      'codes-off': 'One-time codes are off, and the recovery codes work no more.',
      'codes-on': 'One-time codes are on already. Turn them off first.',
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

const button = (who: SignedIn, path: string, words: string, kind: 'danger' | 'plain' | null): Html =>
  html`<form method="post" action="${setUpPath}${path}" class="row">
    ${hidden('form_token', who.formToken)}<button class="${kind}">${words}</button>
  </form>`;

const offPart = (who: SignedIn): Html =>
  html`<p>
      After the password, an app on another device is asked for six digits, so that a password alone is not
      enough.
    </p>
    ${button(who, '', 'Turn on one-time codes', null)}`;

const onPart = (who: SignedIn, left: number): Html =>
  html`<p>They are on: after the password you are asked for a code. ${left} of 10 recovery codes are left.</p>
    <div class="actions">
      ${button(who, '/recovery-codes', 'Make new recovery codes', 'plain')}
      ${button(who, '/off', 'Turn off one-time codes', 'danger')}
    </div>`;

export function oneTimeCodesRoutes(options: ChangeOptions & { readonly codes: OneTimeCodes }): Route[] {
  const { codes, services } = options;
  const path = 'one-time-codes';
  return [
    changeRoute(
      options,
      { path, name: 'one-time-codes.begin', summary: 'Begin to turn on one-time codes', isSensitive: true },
      async ({ accountId }) =>
        (await codes.begin(accountId)) ? leadTo(services.baseUrl, setUpPath) : { wrong: 'codes-on' },
    ),
    setUpRoute(options),
    changeRoute(
      options,
      {
        ...{ path: `${path}/confirm`, isSensitive: true },
        ...{ name: 'one-time-codes.confirm', summary: 'Turn on one-time codes with a first one' },
      },
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
      options,
      {
        ...{ path: `${path}/recovery-codes`, isSensitive: true },
        ...{ name: 'one-time-codes.renew', summary: 'Make other recovery codes' },
      },
      async ({ accountId, email }) => {
        const made = await codes.renewRecoveryCodes(accountId);
        noticeOf(services, email, 'New recovery codes were made, and the old ones work no more.');
        return recoveryPage(made);
      },
    ),
    changeRoute(
      options,
      {
        ...{ path: `${path}/off`, isSensitive: true },
        ...{ name: 'one-time-codes.off', summary: 'Turn off one-time codes' },
      },
      async ({ accountId, email }) => {
        await codes.turnOff(accountId);
        noticeOf(services, email, 'One-time codes were turned off: a password is enough now.');
        return { done: 'codes-off' };
      },
    ),
  ];
}

/** The secret is shown to who has just proved who they are, and only until its first code. */
function setUpRoute({ services, sessions, codes }: Parameters<typeof oneTimeCodesRoutes>[0]): Route {
  const { baseUrl, nowMs } = services;
  return pageRoute(
    {
      method: 'GET',
      path: setUpPath,
      name: 'one-time-codes.page',
      summary: 'The page with the secret of the codes',
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

const wrongCode =
  'This code is wrong. Check that the clock of your device is right, and type the code that it shows now.';

function setUpPage(who: SignedIn, secret: string, wrong: string | null): RawAnswer {
  const svg = renderSVG(addressOf(secret, who.email), { border: 2 });
  const content = html`<ol>
      <li>Open an app for one-time codes on your phone, such as the one of your password manager.</li>
      <li>
        Scan this picture with it, or type the secret beside it.
        <div class="actions">
          <div class="qr" role="img" aria-label="The secret as a picture to scan">${trusted(svg)}</div>
          <p>Secret:<br /><code class="code">${secret.replaceAll(/.{4}(?=.)/g, '$& ')}</code></p>
        </div>
      </li>
      <li>Type the six digits that the app shows.</li>
    </ol>
    ${wrong && problem(wrong)}
    <form method="post" action="${setUpPath}/confirm">
      ${hidden('form_token', who.formToken)}
      <label
        >Code<input name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="10" required
      /></label>
      <div class="actions">
        <button>Turn on one-time codes</button> <a class="button plain" href="/account">Not now</a>
      </div>
    </form>`;
  return page(
    'One-time codes',
    html`<h1>One-time codes</h1>
      ${content}`,
    { status: wrong === null ? 200 : 422 },
  );
}

function recoveryPage(codes: readonly string[]): RawAnswer {
  return page(
    'Recovery codes',
    html`<h1>Recovery codes</h1>
      <p class="notice done" role="status">One-time codes are on.</p>
      <p>
        Should you lose your device, each of these signs you in once in place of a code.
        <strong>They are shown this once:</strong> print them, or keep them in a password manager.
      </p>
      <ul>
        ${codes.map((code) => html`<li><code class="code">${code}</code></li>`)}
      </ul>
      <p><a class="button" href="/account">I have kept them</a></p>`,
  );
}
