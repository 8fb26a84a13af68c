// What comes of a form of a consent page: the grant is made in one commit with the request's being decided, as the person who is
// signed in, so that of two answers to one request exactly one counts.
import type { Committer } from '../../changes/commit.ts';
import type { Directory, Services } from '../../context.ts';
import type { Principal } from '../../http/principal.ts';
import { newGrant } from '../../identity/grants/kind.ts';
import {
  stillSignedInOp,
  type Seat,
  type Sessions,
  type SignedIn,
} from '../../identity/sessions/sessions.ts';
import type { GuardedClass } from '../../lib/guarded.ts';
import { guardedIn } from '../../identity/workspace/guarded.ts';
import type { Scope } from '../../store/store.ts';
import type { Clients } from '../clients/clients.ts';
import type { Asking, Decision, Engine } from '../engine/engine.ts';
import type { Tokens } from '../tokens.ts';
import { consentView, type ConsentView } from './view.ts';

export interface ConsentOptions {
  readonly services: Services;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly sessions: Sessions;
  readonly clients: Clients;
  readonly tokens: Tokens;
}

export interface AskingOptions extends ConsentOptions {
  readonly engine: () => Promise<Engine>;
}

/** What is to be asked of a person, or what there is to say instead. */
export type Asked =
  { readonly view: ConsentView; readonly principal: Principal } | { readonly without: 'seat' | 'client' };

/** @param workspaceId that the person chose; null for the first in which they have a seat */
export async function askedOf(
  { sessions, clients, services }: ConsentOptions,
  asking: Asking,
  who: SignedIn,
  workspaceId: string | null,
  peer: string,
): Promise<Asked> {
  const seat: Seat | undefined =
    workspaceId === null ? who.seats[0] : who.seats.find((one) => one.workspaceId === workspaceId);
  const principal = seat && (await sessions.principal(who, seat.workspaceId));
  if (!seat || !principal) return { without: 'seat' };
  const client = await clients.find(asking.clientId, peer);
  if (!client) return { without: 'client' };
  const demanded = await guardedIn(services.store, principal.scope);
  return { view: consentView({ asking, client, who, seat, principal, demanded }), principal };
}

/** What the member gives; what is wrong, in words, where that is nothing. */
export function givenBy(
  { scopes, guarded }: ConsentView,
  form: URLSearchParams,
): { scopes: string[]; guarded: GuardedClass[]; wrong: string | null } {
  const chosen = new Set(form.getAll('scope'));
  const given = scopes.filter(({ scope, isHeld }) => isHeld && chosen.has(scope)).map(({ scope }) => scope);
  const asked = new Set(form.getAll('guarded'));
  return {
    scopes: given,
    guarded: guarded.filter(({ word, isFixed }) => isFixed || asked.has(word)).map(({ word }) => word),
    wrong: given.length > 0 ? null : 'Leave it at least one thing that it may do, or deny it.',
  };
}

/** Makes the grant. @returns null where the request has been decided already */
export async function makeGrant(
  options: ConsentOptions,
  { view, principal }: Extract<Asked, { view: ConsentView }>,
  given: { readonly scopes: readonly string[]; readonly guarded: readonly GuardedClass[] },
): Promise<Extract<Decision, { grant: object }> | null> {
  const { services, committer, directoryOf, tokens } = options;
  const { client, seat, asking, leadsTo, isVerified } = view;
  const change = newGrant(services, {
    memberId: seat.memberId,
    client: { id: client.id, name: client.name, kind: client.kind, verified: isVerified },
    redirectHost: leadsTo,
    resource: asking.resource,
    ...given,
  });
  const { scope, actor } = principal;
  const author = {
    ...{ scope, actor, cause: null, requestId: null, traceparent: null },
    directory: await directoryOf(scope),
  };
  // Nothing is granted in a session that signing out everywhere ends at this moment.
  const guards = [tokens.decideOp(asking.ticket), stillSignedInOp(principal.tokenId)];
  const committed = await committer.commit(author, [change], guards);
  if (!committed.ok && committed.part === 'guard') return null;
  if (!committed.ok) throw new Error(`A grant was not kept: ${committed.message}`);
  return {
    grant: { workspaceId: seat.workspaceId, id: change.after.id },
    memberId: seat.memberId,
    scopes: given.scopes,
  };
}
