// Who a request acts for. HTTP callers prove it with a token; callers inside the process come by an entrance of their own
// (values.ts), which takes no Request, so that nothing a remote client can send ever passes for one of them.
import type { Actor } from '../events/origin.ts';
import type { Rights } from '../rights/rights.ts';
import type { Scope } from '../store/store.ts';

export interface Principal extends Rights {
  readonly scope: Scope;
  readonly actor: Actor;
  /** Rate-limit bucket and idempotency scope. */
  readonly tokenId: string;
}

/** @returns null for a token that is unknown, revoked, expired or malformed: nobody learns which. */
export interface Authenticate {
  (token: string): Principal | null | Promise<Principal | null>;
}
