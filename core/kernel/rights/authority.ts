// Authority of an action: the credential whose role and scopes permit it. The author differs if one member
// approves the proposal of another. docs/decisions/0073.
import type { Actor } from '../events/log/origin.ts';

export interface Authority {
  /** Holder of the credential: a member with a session, an API key, an app or a plugin. */
  readonly actor: Actor;
  /** Grant of an app; absent for all others. */
  readonly grantId?: string;
}

/** Returns the authority of a caller; by default the caller's own credential. */
export function authorityOf(caller: {
  readonly actor: Actor;
  readonly authority?: Authority;
  readonly grant?: { readonly id: string };
}): Authority {
  const { actor, authority, grant } = caller;
  return authority ?? (grant ? { actor, grantId: grant.id } : { actor });
}

export interface Authorized {
  readonly authority: Authority;
}
