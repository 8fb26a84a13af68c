// Processes the form of the consent page. One commit creates the grant and marks the request as decided, so
// that only one of two concurrent decisions takes effect.
import type { Committer } from '../../../kernel/changes/commit.ts';
import type { Directory } from '../../../kernel/context.ts';
import { type IdentityDeps, guardedIn } from '../../people/index.ts';
import type { Principal } from '../../../kernel/http/principal.ts';
import { newGrant } from '../grants.ts';
import {
  stillSignedInOp,
  type AccountMembership,
  type Sessions,
  type SignedIn,
  card,
} from '../../sign-in/index.ts';
import type { GuardedClass } from '../../../platform/lib/guarded-classes.ts';
import type { Scope } from '../../../platform/store/store.ts';
import type { Clients } from '../clients/clients.ts';
import type { Asking, Decision, OAuthEngine } from '../engine/engine.ts';
import type { Tokens } from '../tokens.ts';
import { consentView, type ConsentView } from './page.ts';
import type { RawAnswer } from '../../../kernel/http/route.ts';
import { html } from '../../../kernel/html.ts';
import { offeredScopes } from '../metadata.ts';

export interface ConsentParts {
  readonly services: IdentityDeps;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly sessions: Sessions;
  readonly clients: Clients;
  readonly tokens: Tokens;
  readonly engine: () => Promise<OAuthEngine>;
}

export type ConsentPrompt =
  | { readonly view: ConsentView; readonly principal: Principal }
  | { readonly without: 'membership' | 'client' };

/** @param workspaceId workspace that the person chose; null for their first workspace */
export async function consentPromptOf(
  { sessions, clients, services }: ConsentParts,
  asking: Asking,
  who: SignedIn,
  workspaceId: string | null,
  peer: string,
): Promise<ConsentPrompt> {
  const membership: AccountMembership | undefined =
    workspaceId === null
      ? who.memberships[0]
      : who.memberships.find((one) => one.workspaceId === workspaceId);
  const principal = membership && (await sessions.principal(who, membership.workspaceId));
  if (!membership || !principal) return { without: 'membership' };
  const client = await clients.find(asking.clientId, peer);
  if (!client) return { without: 'client' };
  const demanded = await guardedIn(services.store, principal.scope);
  return { view: consentView({ asking, client, who, membership, principal, demanded }), principal };
}

/** Reads the chosen scopes and guarded classes. `wrong` is an error message if no scope was chosen. */
export function grantedBy(
  { scopes, guarded }: ConsentView,
  form: URLSearchParams,
): { scopes: string[]; guarded: GuardedClass[]; wrong: string | null } {
  const chosen = new Set(form.getAll('scope'));
  const granted = scopes
    .filter(({ scope, isGrantable }) => isGrantable && chosen.has(scope))
    .map(({ scope }) => scope);
  const guardedChoices = new Set(form.getAll('guarded'));
  return {
    scopes: granted,
    guarded: guarded
      .filter(({ word, isFixed }) => isFixed || guardedChoices.has(word))
      .map(({ word }) => word),
    wrong: granted.length > 0 ? null : 'Choose at least one permission, or deny the request.',
  };
}

/**
 * @returns null if the request was decided already, or if the session has ended
 * @throws Error if the grant cannot be stored
 */
export async function makeGrant(
  parts: ConsentParts,
  { view, principal }: Extract<ConsentPrompt, { view: ConsentView }>,
  granted: { readonly scopes: readonly string[]; readonly guarded: readonly GuardedClass[] },
): Promise<Extract<Decision, { grant: object }> | null> {
  const { services, committer, directoryOf, tokens } = parts;
  const { client, membership, asking, leadsTo, isVerified } = view;
  const change = newGrant(services, {
    memberId: membership.memberId,
    client: { id: client.id, name: client.name, kind: client.kind, verified: isVerified },
    redirectHost: leadsTo,
    resource: asking.resource,
    ...granted,
  });
  const { scope, actor } = principal;
  const author = {
    scope,
    actor,
    cause: null,
    requestId: null,
    traceparent: null,
    directory: await directoryOf(scope),
  };
  // The guard on the session fails the commit if “Sign out everywhere” has ended the session meanwhile.
  const guards = [tokens.decideOp(asking.ticket), stillSignedInOp(principal.tokenId)];
  const committed = await committer.commit(author, [change], guards);
  if (!committed.ok && committed.part === 'guard') return null;
  if (!committed.ok) throw new Error(`Could not store a grant: ${committed.message}`);
  return {
    grant: { workspaceId: membership.workspaceId, id: change.after.id },
    memberId: membership.memberId,
    scopes: granted.scopes,
  };
}

/** Responses to authorization requests that end without a consent page. */
export const over = card(
  'This request has ended',
  html`<p>
    The request was already decided, has expired, or was started in another browser. Go back to the app and
    start again.
  </p>`,
  { status: 410 },
);

export const denied: Decision = {
  error: 'access_denied',
  why: 'The person denied the request. Ask again only if the person wants to allow the access.',
};
export const noneOffered: Decision = {
  error: 'invalid_scope',
  why: `No requested scope is supported. Request some of: ${offeredScopes.join(' ')}.`,
};

export function withoutPage(without: 'membership' | 'client'): RawAnswer {
  return without === 'membership'
    ? card(
        'No workspace',
        html`<p>
          You are not a member of any workspace on this server, so you cannot give access to an app. Ask an
          admin of a workspace for an invitation.
        </p>`,
        { status: 403 },
      )
    : card(
        'This app was removed',
        html`<p>The app no longer exists and got no access. Contact its developer.</p>`,
        {
          status: 410,
        },
      );
}
