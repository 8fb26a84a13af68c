// The page for devices without a browser (RFC 8628 §3.3): a person types the code that the device shows, and decides what it may do.
import { LRUCache } from 'lru-cache';
import { Type } from 'typebox';
import { readForm } from '../../html/form.ts';
import { html } from '../../html/html.ts';
import { page } from '../../html/page.ts';
import { defineRoute, type Arrival, type RawAnswer, type Route } from '../../http/route.ts';
import type { SignedIn } from '../../identity/sessions/sessions.ts';
import { denied, toSignIn, withoutPage } from '../consent/answers.ts';
import { askedOf, givenBy, makeGrant, requireFormOf, type AskingOptions } from '../consent/decide.ts';
import { consentPage, hiddenFields, noticePage } from '../consent/page.ts';
import type { Asking } from '../engine/engine.ts';
import { paths } from '../paths.ts';

/** Codes of eight letters are guessed in vain at this rate (RFC 8628 §5.1): so many wrong ones of an account in ten minutes. */
const wrongMax = 10;
const wrongWithinMs = 600_000;

const tooMany = noticePage('Too many wrong codes', 'Wait ten minutes, then begin again on your device.', 429);
const done = noticePage('Your device is connected', 'You can close this page and go back to your device.');
const refused = noticePage('Nothing was given', 'The device was told that you did not allow it.');

export function deviceRoutes(options: AskingOptions): Route[] {
  const { sessions, services, engine } = options;
  const wrong = createWrongCodes(services.nowMs);

  const ask = async (arrival: Arrival): Promise<RawAnswer> => {
    const who = await sessions.find(arrival.headers);
    if (!who) return toSignIn(arrival);
    return codePage(who, (arrival.query.get('user_code') ?? '').slice(0, 20), null);
  };

  const decide = async (arrival: Arrival): Promise<RawAnswer> => {
    const form = await readForm(arrival, services.baseUrl);
    const who = await sessions.find(arrival.headers);
    if (!who) return toSignIn({ path: paths.device, query: new URLSearchParams() });
    requireFormOf(who, form);
    if (wrong.isTooMany(who)) return tooMany;
    const code = form.get('user_code') ?? '';
    const asking = await (await engine()).deviceAsking(code);
    if (!asking) {
      wrong.note(who);
      return codePage(who, code.slice(0, 20), 'That code is unknown, or too old. Look at your device again.');
    }
    return decideAsked(options, asking, { who, code, form });
  };

  const facts = {
    path: paths.device,
    ...({ scope: null, limit: 'read' } as const),
    ...{ responses: { 200: Type.String() }, contentType: 'text/html' },
  };
  return [
    defineRoute({
      ...facts,
      method: 'GET',
      name: 'oauth.device_page',
      summary: 'Where the code of a device is typed in',
      inbound: (_, arrival) => ask(arrival),
    }),
    defineRoute({
      ...facts,
      method: 'POST',
      name: 'oauth.device_decide',
      summary: 'What a person lets a device do',
      inbound: (_, arrival) => decide(arrival),
    }),
  ];
}

async function decideAsked(
  options: AskingOptions,
  asking: Asking,
  { who, code, form }: { who: SignedIn; code: string; form: URLSearchParams },
): Promise<RawAnswer> {
  const server = await options.engine();
  const said = (isNew: boolean, answer: RawAnswer): RawAnswer =>
    isNew ? answer : codePage(who, '', 'That code has been used.');
  const decision = form.get('decision');
  if (decision === 'deny') return said(await server.settleDevice(code, denied), refused);
  const asked = await askedOf(options, asking, who, form.get('workspace'));
  if ('without' in asked) return withoutPage(asked.without);
  const given = givenBy(asked.view, form);
  const problem = decision === 'allow' ? given.problem : null;
  if (decision !== 'allow' || problem !== null)
    return consentPage(asked.view, {
      action: paths.device,
      hidden: { form_token: who.formToken, user_code: code },
      problem,
    });
  const made = await makeGrant(options, asked, given);
  return said(made !== null && (await server.settleDevice(code, made)), done);
}

/** A code that came with the address is shown, and not taken: the person compares it with their device first (RFC 8628 §5.4). */
function codePage(who: SignedIn, code: string, problem: string | null): RawAnswer {
  return page(
    'Connect a device',
    html`<div class="card">
      <h1>Connect a device</h1>
      ${problem === null ? null : html`<p class="notice problem" role="alert">${problem}</p>`}
      <p>
        Your device shows a code of eight letters.
        ${code === '' ? 'Type it here.' : 'Go on only if it is this one, and you began this yourself.'}
      </p>
      <form method="post" action="${paths.device}">
        ${hiddenFields({ form_token: who.formToken })}
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
        <div class="actions"><button>Go on</button></div>
      </form>
    </div>`,
    { status: problem === null ? 200 : 422 },
  );
}

function createWrongCodes(nowMs: () => number) {
  const known = new LRUCache<string, { count: number; until: number }>({ max: 10_000 });
  const of = ({ accountId }: SignedIn): { count: number; until: number } => {
    const now = nowMs();
    const noted = known.get(accountId);
    return noted && now < noted.until ? noted : { count: 0, until: now + wrongWithinMs };
  };
  return {
    isTooMany: (who: SignedIn): boolean => of(who).count >= wrongMax,
    note(who: SignedIn): void {
      const { count, until } = of(who);
      known.set(who.accountId, { count: count + 1, until });
    },
  };
}
