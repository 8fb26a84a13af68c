import type { IdentityDeps } from '../../people/index.ts';
import { type RawRequest, type RawAnswer, type Route, defineRoute } from '../../../kernel/http/route.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { changeRoute } from '../account/change.ts';
import { noticeOf } from '../account/change.ts';
import { isFormTokenOf, isFresh, proofPath } from '../page-parts.ts';
import type { Sessions, SignedIn } from '../sessions.ts';
import { destinationOf } from '../destination.ts';
import type { SignIn } from '../sign-in.ts';
import { passkeyNameMax, type PasskeyCeremonies, type Passkeys } from './passkeys.ts';
import { passkeyScriptRoute } from './script.ts';
import { Type } from 'typebox';
import { readScriptCall } from '../../../kernel/html.ts';

export interface PasskeyPages {
  readonly services: IdentityDeps;
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  readonly passkeys: Passkeys;
}

export function passkeyRoutes(options: PasskeyPages): Route[] {
  return [passkeyScriptRoute, ...signInRoutes(options), ...addRoutes(options), ...manageRoutes(options)];
}

/** @throws ApiError conflict */
function ceremoniesOf({ passkeys, services }: PasskeyPages): PasskeyCeremonies {
  if (passkeys.ceremonies) return passkeys.ceremonies;
  throw new ApiError(
    'conflict',
    `Passkeys do not work at ${services.baseUrl}: browsers require https and a host name instead of an IP address. Ask your administrator.`,
  );
}

// JSON routes for the scripts of Tatami's own pages, outside the public API.

interface ScriptFacts {
  readonly path: string;
  readonly name: string;
  readonly summary: string;
}

type ScriptBody = Readonly<Record<string, unknown>>;

/** Errors have the format of the API; the script shows their messages. */
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
      return {
        contentType: 'application/json',
        ...(cookies.length === 0 ? {} : { headers: { 'set-cookie': cookies } }),
        body: JSON.stringify(body),
      };
    },
  });
}

function signInRoutes(options: PasskeyPages): Route[] {
  const { services, sessions, signIn } = options;
  const { baseUrl } = services;
  return [
    scriptRoute(
      {
        path: '/sign-in/passkey/options',
        name: 'sign-in.passkey_options',
        summary: 'Get the options for a sign-in with a passkey',
      },
      baseUrl,
      async () => {
        const { options: body, cookie } = await ceremoniesOf(options).askToSignIn();
        return { body, cookies: [cookie] };
      },
    ),
    scriptRoute(
      { path: '/sign-in/passkey', name: 'sign-in.passkey', summary: 'Sign in with a passkey' },
      baseUrl,
      async ({ to, form_token: formToken, credential }, request) => {
        const accountId = await ceremoniesOf(options)
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

function addRoutes(options: PasskeyPages): Route[] {
  const { services, sessions } = options;
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
        if (who.seats.length === 0) return { body: { to: `${baseUrl}/account` } };
        if (!isFresh(who, nowMs())) return { body: { to: baseUrl + proofPath('/account') } };
        const { options: body, cookie } = await ceremoniesOf(options).askToAdd(who);
        return { body, cookies: [cookie] };
      },
    ),
    scriptRoute(
      { path: '/account/passkeys', name: 'passkeys.add', summary: 'Add a passkey' },
      baseUrl,
      async ({ form_token: formToken, credential, name }, request) => {
        const who = await requireSignedIn(sessions, request, formToken);
        await ceremoniesOf(options).add(who, request.headers, credential, nameOf(name));
        noticeOf(services, who.email, 'A passkey was added and can now be used to sign in.');
        return { body: { to: `${baseUrl}/account?done=passkey-added` } };
      },
    ),
  ];
}

function manageRoutes(options: PasskeyPages): Route[] {
  const { passkeys, services } = options;
  return [
    changeRoute(
      options,
      { path: 'passkeys/rename', name: 'passkeys.rename', summary: 'Rename a passkey' },
      async ({ accountId }, form) => {
        await passkeys.rename(accountId, form.get('id') ?? '', nameOf(form.get('name')));
        return { done: 'passkey-renamed' };
      },
    ),
    changeRoute(
      options,
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
