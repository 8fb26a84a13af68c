// The principal that a request acts for. HTTP callers authenticate with a token. In-process callers use a
// separate adapter (values.ts), which takes no Request, so that a request of a remote client is never
// mistaken for theirs.
import type { Actor } from '../events/event.ts';
import type { GuardedClass } from '../../platform/lib/guarded-classes.ts';
import type { Authority, PersonSession, Rights } from '../rights/rights.ts';
import type { Membership } from '../rights/roles.ts';
import type { Scope } from '../../platform/store/store.ts';

/** Grant that a token was issued for. */
export interface Granted {
  readonly id: string;
  /** Resource that its tokens are valid for (RFC 8707); other resources reject them. */
  readonly resource: 'api' | 'mcp';
  /** Guarded classes that the consenting member added to those of the workspace. */
  readonly guarded: readonly GuardedClass[];
}

/** Part of a principal that limits depend on. */
export interface RateCaller {
  readonly scope: Scope;
  /** Author of its writes. */
  readonly actor: Actor;
  /**
   * Rate-limit bucket and idempotency scope: a grant, a session, or the first key of a chain of rolled keys.
   * Each belongs to one member, so a renewed token neither repeats a write nor gets a fresh limit.
   */
  readonly tokenId: string;
}

export interface Principal extends Rights, RateCaller {
  /** Approver of a write that somebody else requested; absent if the author acts with its own credential. */
  readonly authority?: Authority;
  /** Membership of the member that the principal acts for; absent for plugins. */
  readonly membership?: Membership;
  /** Absent for keys, sessions and plugins. */
  readonly grant?: Granted;
  /** Present for a person who uses the web app. */
  readonly session?: PersonSession;
  /**
   * Returns the principal with its present rights; null once the session has ended. Present with a session, which outlives the bearers
   * that were exchanged for it.
   */
  resume?(): Promise<Principal | null>;
}

/**
 * Returns the member whose quota a principal uses; the token for a principal without a member, such as a
 * plugin.
 */
export function memberOf({ actor, tokenId }: RateCaller): string {
  return actor.memberId ?? tokenId;
}

/**
 * Returns the principal of a credential by its id, with its present rights: a key, a grant or a session. Null for a credential of
 * another type, and for one that has ended.
 */
export interface ResumeCredential {
  (workspaceId: string, credentialId: string): Promise<Principal | null>;
}

/** @returns null for a token that is unknown, revoked, expired or malformed, without revealing which */
export interface Authenticate {
  (token: string): Principal | null | Promise<Principal | null>;
}
