// Routes of the consent page, which every authorization request shows, even after an earlier consent, and of
// the verification page of the device flow (RFC 8628 §3.3).
import type { RawRequest, RawAnswer, Route } from '../../../kernel/http/route.ts';
import {
  isFresh,
  leadToProof,
  leadToSignIn,
  pageRoute,
  readSignedForm,
  card,
  hidden,
  problem,
  type SignedIn,
} from '../../sign-in/index.ts';
import { paths } from '../metadata.ts';
import {
  denied,
  noneOffered,
  over,
  withoutPage,
  consentPromptOf,
  grantedBy,
  makeGrant,
  type ConsentPrompt,
  type ConsentParts,
} from './decide.ts';
import { consentPage } from './page.ts';
import { html } from '../../../kernel/html.ts';
import { retryAfterOf } from '../../../platform/lib/errors/errors.ts';
import type { Asking } from '../engine/engine.ts';
import { createLru } from '../../../platform/lib/lru.ts';

export function consentRoutes(parts: ConsentParts): Route[] {
  const { sessions, services, engine } = parts;
  const { baseUrl, nowMs } = services;
  const pathOf = (uid: string): string => `${paths.consent}/${uid}`;
  const page = (consentPrompt: ConsentPrompt, uid: string, wrong: string | null): RawAnswer => {
    if ('without' in consentPrompt) return withoutPage(consentPrompt.without);
    const { formToken } = consentPrompt.view.who;
    return consentPage(consentPrompt.view, { action: pathOf(uid), hidden: { form_token: formToken }, wrong });
  };

  const show = async (request: RawRequest, uid: string): Promise<RawAnswer> => {
    const server = await engine();
    const asking = await server.asking(request, uid);
    if (!asking) return over;
    if (asking.scopes.length === 0) return server.settle(request, uid, noneOffered);
    const who = await sessions.find(request.headers);
    if (!who) return leadToSignIn(baseUrl, pathOf(uid));
    // The confirmation comes before the choice of permissions, which it would discard.
    if (!isFresh(who, nowMs())) return leadToProof(baseUrl, pathOf(uid));
    return page(await consentPromptOf(parts, asking, who, null, request.peer), uid, null);
  };

  const decide = async (request: RawRequest, uid: string): Promise<RawAnswer> => {
    const who = await sessions.find(request.headers);
    if (!who) return leadToSignIn(baseUrl, pathOf(uid));
    const form = await readSignedForm(request, baseUrl, who);
    const server = await engine();
    const asking = await server.asking(request, uid);
    if (!asking) return over;
    const decision = form.get('decision');
    if (decision === 'deny') return server.settle(request, uid, denied);
    if (!isFresh(who, nowMs())) return leadToProof(baseUrl, pathOf(uid));
    const consentPrompt = await consentPromptOf(parts, asking, who, form.get('workspace'), request.peer);
    if (decision !== 'allow' || 'without' in consentPrompt) return page(consentPrompt, uid, null);
    const granted = grantedBy(consentPrompt.view, form);
    if (granted.wrong !== null) return page(consentPrompt, uid, granted.wrong);
    const grantDecision = await makeGrant(parts, consentPrompt, granted);
    return grantDecision ? server.settle(request, uid, grantDecision) : over;
  };

  const path = pathOf('{token}');
  return [
    pageRoute({ method: 'GET', path, name: 'oauth.ask', summary: 'Show the consent page' }, show),
    pageRoute(
      { method: 'POST', path, name: 'oauth.decide', summary: 'Decide on an authorization request' },
      decide,
    ),
  ];
}

const tooMany = (waitSeconds: number): RawAnswer =>
  card(
    'Too many wrong codes',
    html`<p>Wait ${Math.ceil(waitSeconds / 60)} min, then start again on your device.</p>`,
    { status: 429, headers: retryAfterOf(waitSeconds) },
  );
const connected = card(
  'Your device is connected',
  html`<p>You can close this page and return to your device.</p>`,
);
const refused = card('Request denied', html`<p>The device got no access.</p>`);

/**
 * Wrong user codes are limited (RFC 8628 §5.1), so that a code of eight letters from an alphabet of twenty
 * cannot be guessed.
 */
const wrongMax = 10;
const wrongWithinMs = 600_000;

interface WrongCodes {
  /** Returns the seconds until the account may enter another code; null if it may enter one now. */
  waitOf(who: SignedIn): number | null;
  note(who: SignedIn): void;
}

function createWrongCodes(nowMs: () => number): WrongCodes {
  const known = createLru<string, { count: number; until: number }>(10_000);
  const of = ({ accountId }: SignedIn): { count: number; until: number } => {
    const now = nowMs();
    const noted = known.get(accountId);
    return noted && now < noted.until ? noted : { count: 0, until: now + wrongWithinMs };
  };
  return {
    waitOf(who) {
      const { count, until } = of(who);
      return count >= wrongMax ? Math.ceil((until - nowMs()) / 1000) : null;
    },
    note(who) {
      const { count, until } = of(who);
      known.set(who.accountId, { count: count + 1, until });
    },
  };
}

/** Returns the path of the form for a device code, with a code that the person has entered or followed. */
function devicePathOf(code: string): string {
  if (code === '') return paths.device;
  return `${paths.device}?${new URLSearchParams({ user_code: code.slice(0, 20) }).toString()}`;
}

export function deviceRoutes(parts: ConsentParts): Route[] {
  const { sessions, services, engine } = parts;
  const { baseUrl, nowMs } = services;
  const wrongCodes = createWrongCodes(nowMs);

  const ask = async ({ headers, query }: RawRequest): Promise<RawAnswer> => {
    const who = await sessions.find(headers);
    const code = query.get('user_code') ?? '';
    if (!who) return leadToSignIn(baseUrl, devicePathOf(code));
    return isFresh(who, nowMs())
      ? codePage(who, code.slice(0, 20), null)
      : leadToProof(baseUrl, devicePathOf(code));
  };

  const decide = async (request: RawRequest): Promise<RawAnswer> => {
    const who = await sessions.find(request.headers);
    if (!who) return leadToSignIn(baseUrl, paths.device);
    const form = await readSignedForm(request, baseUrl, who);
    const waitSeconds = wrongCodes.waitOf(who);
    if (waitSeconds !== null) return tooMany(waitSeconds);
    const code = form.get('user_code') ?? '';
    if (form.get('decision') !== 'deny' && !isFresh(who, nowMs()))
      return leadToProof(baseUrl, devicePathOf(code));
    const asking = await (await engine()).deviceAsking(code);
    if (asking) return decideDevice(parts, asking, { who, code, form, peer: request.peer });
    wrongCodes.note(who);
    return codePage(
      who,
      code.slice(0, 20),
      'This code is unknown or has expired. Check the code on your device.',
    );
  };

  const path = paths.device;
  return [
    pageRoute(
      { method: 'GET', path, name: 'oauth.device_page', summary: 'Show the form for a device code' },
      ask,
    ),
    pageRoute(
      { method: 'POST', path, name: 'oauth.device_decide', summary: 'Decide on a device authorization' },
      decide,
    ),
  ];
}

async function decideDevice(
  parts: ConsentParts,
  asking: Asking,
  { who, code, form, peer }: { who: SignedIn; code: string; form: URLSearchParams; peer: string },
): Promise<RawAnswer> {
  const server = await parts.engine();
  const answerIfNew = (isNew: boolean, answer: RawAnswer): RawAnswer =>
    isNew ? answer : codePage(who, '', 'This code was already used. Start again on your device.');
  const decision = form.get('decision');
  if (decision === 'deny') return answerIfNew(await server.settleDevice(code, denied), refused);
  const consentPrompt = await consentPromptOf(parts, asking, who, form.get('workspace'), peer);
  if ('without' in consentPrompt) return withoutPage(consentPrompt.without);
  const granted = grantedBy(consentPrompt.view, form);
  const wrong = decision === 'allow' ? granted.wrong : null;
  if (decision !== 'allow' || wrong !== null)
    return consentPage(consentPrompt.view, {
      action: paths.device,
      hidden: { form_token: who.formToken, user_code: code },
      wrong,
    });
  const grantDecision = await makeGrant(parts, consentPrompt, granted);
  return answerIfNew(grantDecision !== null && (await server.settleDevice(code, grantDecision)), connected);
}

/**
 * A code from the URL only fills the field, so that the person first compares it with the device (RFC 8628
 * §5.4).
 */
function codePage(who: SignedIn, code: string, wrong: string | null): RawAnswer {
  return card(
    'Connect a device',
    html`${wrong === null ? null : problem(wrong)}
      <p>
        Your device shows a code of eight letters.
        ${code === '' ? 'Enter it here.' : 'Continue only if your device shows this code and you started this yourself.'}
      </p>
      <form method="post" action="${paths.device}">
        ${hidden('form_token', who.formToken)}
        <label
          >Code
          <input
            name="user_code"
            value="${code}"
            required
            autocomplete="off"
            autocapitalize="characters"
            spellcheck="false"
            maxlength="20"
        /></label>
        <div class="actions"><button>Continue</button></div>
      </form>`,
    { person: who, status: wrong === null ? 200 : 422 },
  );
}
