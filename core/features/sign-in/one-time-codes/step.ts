// Second step of a sign-in: a one-time code or a recovery code. Limits for wrong codes equal those for wrong
// passwords, but are counted separately.
import type { IdentityDeps } from '../../people/index.ts';
import { html, readForm } from '../../../kernel/html.ts';
import type { RawRequest, RawAnswer, Route } from '../../../kernel/http/route.ts';
import { card, leadToSignIn, pageRoute } from '../page-parts.ts';
import { deviceOf } from '../devices.ts';
import type { SignInLimits } from '../limits.ts';
import { refusalOf, type SignInNotice } from '../page.ts';
import type { FurtherStep, Pending, SignIn } from '../sign-in.ts';
import type { OneTimeCodes } from './one-time-codes.ts';

const path = '/sign-in/code';

export function oneTimeCodeStep(codes: OneTimeCodes): FurtherStep {
  return { path, isSetUp: async (accountId) => (await codes.of(accountId)).isOn };
}

export interface CodePages {
  readonly services: IdentityDeps;
  readonly signIn: SignIn;
  readonly limits: SignInLimits;
  readonly codes: OneTimeCodes;
}

export function codeStepRoutes(options: CodePages): Route[] {
  const { services, signIn } = options;
  const { baseUrl } = services;
  return [
    pageRoute(
      { method: 'GET', path, name: 'sign-in.code', summary: 'Ask for a one-time code' },
      async ({ headers }) => {
        const pending = await signIn.pending(headers);
        return pending ? codePage({ said: null }) : leadToSignIn(baseUrl, '/account');
      },
    ),
    pageRoute(
      { method: 'POST', path, name: 'sign-in.submit_code', summary: 'Sign in with a one-time code' },
      async (request) => {
        const form = await readForm(request, baseUrl);
        const pending = await signIn.pending(request.headers);
        if (!pending) return leadToSignIn(baseUrl, '/account');
        return attempt(options, request, pending, form.get('code') ?? '');
      },
    ),
  ];
}

async function attempt(
  { services, signIn, limits, codes }: CodePages,
  request: RawRequest,
  { account, to }: Pending,
  code: string,
): Promise<RawAnswer> {
  const { sealing, log } = services;
  const { peer, headers } = request;
  const device = deviceOf(sealing, headers, account.id);
  const counted = {
    subject: `code ${account.id}`,
    peer,
    device: device === null ? null : `code ${device}`,
  };
  const isCounted = limits.take(counted);
  if (isCounted && (await codes.take(account.id, code))) {
    limits.giveBack(counted);
    return signIn.finish(account.id, request, to, account);
  }
  log('info', 'sign-in refused: wrong code', { account: account.id, peer, isKnownDevice: device !== null });
  return codePage(
    refusalOf(
      isCounted ? null : limits.waitOf(counted),
      'This code is wrong, expired or was used before. Wait for the next code and enter that one.',
    ),
  );
}

function codePage({ said, ...answer }: SignInNotice): RawAnswer {
  const content = html`<p>Enter the six-digit code from your authenticator app.</p>
    ${said}
    <form method="post" action="${path}">
      <label
        >Code<small>Or a recovery code.</small
        ><input
          name="code"
          autocomplete="one-time-code"
          autocapitalize="none"
          maxlength="60"
          required
          autofocus
      /></label>
      <button>Sign in</button>
    </form>
    <p><a href="/sign-in">Sign in another way</a></p>`;
  return card('Enter your code', content, answer);
}
