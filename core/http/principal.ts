// Who a request acts for. HTTP callers prove it with a token; callers inside the process come by an entrance of their own
// (values.ts), which takes no Request, so that nothing a remote client can send ever passes for one of them.
import type { Actor } from '../events/origin.ts';
import type { GuardedClass } from '../lib/guarded.ts';
import type { Authority } from '../rights/authority.ts';
import type { Rights } from '../rights/rights.ts';
import type { Standing } from '../rights/roles.ts';
import type { Scope } from '../store/store.ts';

/** What an app was granted, where a token came by a grant. */
export interface Granted {
  readonly id: string;
  /** The resource that its tokens are for (RFC 8707): no other takes them. */
  readonly resource: 'api' | 'mcp';
  /** What the member who consented wants to be asked about, beside what the workspace does. */
  readonly guarded: readonly GuardedClass[];
}

export interface Principal extends Rights {
  readonly scope: Scope;
  /** Author of what it writes. */
  readonly actor: Actor;
  /** The approver of what somebody else asked for; absent where the author acts by a credential of their own. */
  readonly authority?: Authority;
  /**
   * Rate-limit bucket and idempotency scope: a grant, a session, or the first key of a chain of rolled keys. It belongs to one member,
   * so a renewed token neither repeats a write nor gets a fresh limit.
   */
  readonly tokenId: string;
  /** Of the member that it acts for; absent for plugins. */
  readonly standing?: Standing;
  /** Absent for keys, sessions and plugins. */
  readonly grant?: Granted;
}

/** The member whose shares of limits and queues a principal uses up; one without a member, such as a plugin, has shares of its own. */
export function memberOf({ actor, tokenId }: Pick<Principal, 'actor' | 'tokenId'>): string {
  return actor.memberId ?? tokenId;
}

/** @returns null for a token that is unknown, revoked, expired or malformed: nobody learns which. */
export interface Authenticate {
  (token: string): Principal | null | Promise<Principal | null>;
}
