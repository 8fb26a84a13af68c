// Authority of an action, distinct from its author: the credential whose role and scopes permit it. They differ if one member
// approves what another proposed. docs/decisions/0073.
import type { Actor } from '../events/origin.ts';

export interface Authority {
  /** Holder of the credential: a member's session, an API key, an app or a plugin. */
  readonly actor: Actor;
  /** Grant of an app; absent for sessions, keys and plugins. */
  readonly grantId?: string;
}

/** Returns the authority of a caller: their own credential, unless they write on behalf of somebody else. */
export function authorityOf(caller: {
  readonly actor: Actor;
  readonly authority?: Authority;
  readonly grant?: { readonly id: string };
}): Authority {
  const { actor, authority, grant } = caller;
  return authority ?? (grant ? { actor, grantId: grant.id } : { actor });
}

/** An operation's context, or anything else with an authority. */
export interface Authorized {
  readonly authority: Authority;
}
