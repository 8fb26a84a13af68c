// Passkeys on the sign-in page and on the account page, with their script.
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { html, type Html, readScriptCall } from '../../../kernel/html.ts';
import { defineRoute, type Route, type RawRequest, type RawAnswer } from '../../../kernel/http/route.ts';
import { Closed } from '../../../platform/lib/schema.ts';
import text from './in-browser.js' with { type: 'text' };
import { type AccountSection, changeRoute, noticeOf } from '../account/page.ts';
import { hidden, isFormTokenOf, isFresh, proofPath, destinationOf, reachedUrl } from '../page-parts.ts';
import type { WayIn } from '../page.ts';
import { passkeyNameMax, type Passkey, type Passkeys, type PasskeyCeremonies } from './passkeys.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { Sessions, SignedIn } from '../sessions.ts';
import type { SignInParts } from '../runtime.ts';

const path = '/assets/passkeys.js';
const version = createHash('sha256').update(text).digest('hex').slice(0, 16);

/** URL with the hash of the script, so that browsers can cache it permanently. */
const passkeyScript: string = `${path}?v=${version}`;

const passkeyScriptRoute: Route = defineRoute({
  method: 'GET',
  path,
  name: 'assets.passkeys',
  summary: 'Get the passkey script of the pages',
  scope: null,
  limit: 'read',
  query: Closed({ v: Type.Optional(Type.String({ maxLength: 64 })) }),
  responses: { 200: Type.String() },
  contentType: 'text/javascript',
  raw: () => ({
    contentType: 'text/javascript; charset=utf-8',
    body: text,
    headers: { 'cache-control': 'public, max-age=31536000, immutable' },
  }),
});

/**
 * Returns a form that the script submits. The form is hidden until the script runs, so that browsers without
 * WebAuthn do not show it.
 * @param method method of `navigator.credentials`
 */
function passkeyForm(method: 'create' | 'get', action: string, content: Html): Html {
  return html`<form action="${action}" data-passkey="${method}" hidden>
    ${content}
    <p class="notice problem" role="alert"></p>
  </form>`;
}

/**
 * Offers no passkey if browsers do not support passkeys at the base URL, or if a person without passkeys
 * confirms their identity.
 */
export function passkeyWayIn(passkeys: Passkeys): WayIn {
  return {
    script: passkeyScript,
    async html(to, again, request) {
      if (!passkeys.ceremonies) return null;
      if (again && (await passkeys.of(again.accountId)).length === 0) return null;
      if (!isAtHostOf(passkeys.ceremonies, request)) {
        const path = again ? '/sign-in/again' : '/sign-in';
        return elsewhere(passkeys.ceremonies, `${path}?${new URLSearchParams({ to }).toString()}`);
      }
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
    async html(who, request) {
      const { ceremonies } = passkeys;
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
        ${all.length > 0 && list}
        ${!ceremonies ? unavailable : isAtHostOf(ceremonies, request) ? addForm(token) : elsewhere(ceremonies, '/account')}
      </section>`;
    },
  };
}

/** Browsers bind passkeys to a host name, and `127.0.0.1` is none. */
function isAtHostOf({ origin }: { readonly origin: string }, request: RawRequest): boolean {
  return originOf(reachedUrl(request, request.baseUrl)) === origin;
}

const originOf = (url: string): string => new URL(url).origin;

function elsewhere({ origin }: { readonly origin: string }, to: string): Html {
  return html`<p class="soft">
    Passkeys need a host name instead of an IP address. Open
    <a href="${origin}${to}">${origin}</a> to use them.
  </p>`;
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

export function passkeyRoutes(parts: SignInParts): Route[] {
  return [passkeyScriptRoute, ...signInRoutes(parts), ...addRoutes(parts), ...manageRoutes(parts)];
}

/** @throws ApiError conflict */
function ceremoniesOf({ passkeys, services }: SignInParts, request: RawRequest): PasskeyCeremonies {
  const { ceremonies } = passkeys;
  if (ceremonies && isAtHostOf(ceremonies, request)) return ceremonies;
  if (ceremonies)
    throw new ApiError(
      'conflict',
      `Passkeys do not work at this address. Open ${ceremonies.origin} instead.`,
    );
  throw new ApiError(
    'conflict',
    `Passkeys do not work at ${services.baseUrl}: browsers require https and a host name instead of an IP address. Ask your administrator.`,
  );
}

interface ScriptFacts {
  readonly path: string;
  readonly name: string;
  readonly summary: string;
}

type ScriptBody = Readonly<Record<string, unknown>>;

/**
 * Returns a JSON route for the script, outside the public API. Errors have the format of the API; the script
 * shows their messages.
 */
function scriptRoute(
  facts: ScriptFacts,
  baseUrl: string,
  answer: (body: ScriptBody, request: RawRequest) => Promise<{ body: object; cookies?: readonly string[] }>,
): Route {
  return defineRoute({
    ...facts,
    method: 'POST',
    scope: null,
    limit: 'write',
    ofPages: true,
    responses: { 200: Type.Object({}) },
    inbound: async (_, request): Promise<RawAnswer> => {
      const { body, cookies = [] } = await answer(await readScriptCall(request, baseUrl), request);
      const { to } = body as { to?: string };
      return {
        contentType: 'application/json',
        ...(cookies.length === 0 ? {} : { headers: { 'set-cookie': cookies } }),
        body: JSON.stringify(to === undefined ? body : { to: reachedUrl(request, to) }),
      };
    },
  });
}

function signInRoutes(parts: SignInParts): Route[] {
  const { services, sessions, signIn } = parts;
  const { baseUrl } = services;
  return [
    scriptRoute(
      {
        path: '/sign-in/passkey/options',
        name: 'sign-in.passkey_options',
        summary: 'Get the options for a sign-in with a passkey',
      },
      baseUrl,
      async (_, request) => {
        const { options: body, cookie } = await ceremoniesOf(parts, request).askToSignIn();
        return { body, cookies: [cookie] };
      },
    ),
    scriptRoute(
      { path: '/sign-in/passkey', name: 'sign-in.passkey', summary: 'Sign in with a passkey' },
      baseUrl,
      async ({ to, form_token: formToken, credential }, request) => {
        const accountId = await ceremoniesOf(parts, request)
          .signIn(request.headers, credential)
          .catch((error: unknown) => {
            if (error instanceof ApiError)
              services.log('info', 'sign-in refused: passkey', { peer: request.peer, error: error.message });
            throw error;
          });
        const path = typeof to === 'string' ? to : null;
        // A passkey with user verification counts as two factors, so no one-time code is required.
        if (formToken === undefined) return asJson(await signIn.finish(accountId, request, path));
        const who = await requireSignedIn(sessions, request, formToken);
        if (who.accountId !== accountId)
          throw new ApiError(
            'forbidden',
            'This passkey belongs to another account. Use a passkey of the account that you are signed in to.',
          );
        await sessions.prove(who.sessionId);
        return { body: { to: baseUrl + destinationOf(path, baseUrl) } };
      },
    ),
  ];
}

/** Converts a redirect into JSON, because the script navigates by itself. */
function asJson({ headers = {} }: RawAnswer): { body: object; cookies: readonly string[] } {
  return { body: { to: headers.location }, cookies: [headers['set-cookie'] ?? []].flat() };
}

function addRoutes(parts: SignInParts): Route[] {
  const { services, sessions } = parts;
  const { baseUrl, nowMs } = services;
  return [
    scriptRoute(
      {
        path: '/account/passkeys/options',
        name: 'passkeys.options',
        summary: 'Get the options for a new passkey',
      },
      baseUrl,
      async ({ form_token: formToken }, request) => {
        const who = await requireSignedIn(sessions, request, formToken);
        // The account page tells a person without a workspace what to do.
        if (who.memberships.length === 0) return { body: { to: `${baseUrl}/account` } };
        if (!isFresh(who, nowMs())) return { body: { to: baseUrl + proofPath('/account') } };
        const { options: body, cookie } = await ceremoniesOf(parts, request).askToAdd(who);
        return { body, cookies: [cookie] };
      },
    ),
    scriptRoute(
      { path: '/account/passkeys', name: 'passkeys.add', summary: 'Add a passkey' },
      baseUrl,
      async ({ form_token: formToken, credential, name }, request) => {
        const who = await requireSignedIn(sessions, request, formToken);
        await ceremoniesOf(parts, request).add(who, request.headers, credential, nameOf(name));
        noticeOf(services, who.email, 'A passkey was added and can now be used to sign in.');
        return { body: { to: `${baseUrl}/account?done=passkey-added` } };
      },
    ),
  ];
}

function manageRoutes(parts: SignInParts): Route[] {
  const { passkeys, services } = parts;
  return [
    changeRoute(
      parts,
      { path: 'passkeys/rename', name: 'passkeys.rename', summary: 'Rename a passkey' },
      async ({ accountId }, form) => {
        await passkeys.rename(accountId, form.get('id') ?? '', nameOf(form.get('name')));
        return { done: 'passkey-renamed' };
      },
    ),
    changeRoute(
      parts,
      { path: 'passkeys/remove', name: 'passkeys.remove', summary: 'Remove a passkey', isSensitive: true },
      async ({ accountId, email }, form) => {
        if (!(await passkeys.remove(accountId, form.get('id') ?? ''))) return { wrong: 'passkey-last' };
        noticeOf(services, email, 'A passkey was removed.');
        return { done: 'passkey-removed' };
      },
    ),
  ];
}

/** @throws ApiError forbidden */
async function requireSignedIn(
  sessions: Sessions,
  { headers }: RawRequest,
  formToken: unknown,
): Promise<SignedIn> {
  const who = await sessions.find(headers);
  if (who && isFormTokenOf(who, formToken)) return who;
  throw new ApiError('forbidden', 'You are no longer signed in. Reload the page.');
}

/** @throws ApiError validation_failed */
function nameOf(value: unknown): string {
  const name = typeof value === 'string' ? value.trim() : '';
  if (name === '' || name.length > passkeyNameMax)
    throw new ApiError('validation_failed', `Give the passkey a name of 1 to ${passkeyNameMax} characters.`);
  return name;
}
