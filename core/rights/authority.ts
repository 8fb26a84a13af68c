// The authority behind an act, kept apart from its author: the credential whose role and scopes admit it. They differ where one member
// approves what another proposed. docs/decisions/0073.
import type { Actor } from '../events/origin.ts';

export interface Authority {
  /** Holder of the credential: a member's session, an API key, an app or a plugin. */
  readonly actor: Actor;
  /** Grant of an app; absent for sessions, keys and plugins. */
  readonly grantId?: string;
}

/** Anyone who acts by an authority: an operation's context. */
export interface Authorized {
  readonly authority: Authority;
}
