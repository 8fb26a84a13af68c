// Who a request acts for. HTTP callers prove it with a token; in-process callers (plugins) are attached to the Request
// object itself, in a WeakMap, so that nothing a remote client can send ever passes for one.
import type { Actor, Cause } from '../events/origin.ts';
import type { Staging } from '../changes/staging.ts';
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

/** The identity and the staging of a request made inside the process. */
export interface InProcess {
  readonly principal: Principal;
  readonly cause: Cause | null;
  readonly staged: Staging | null;
  readonly traceparent: string | null;
}

export interface InProcessCalls {
  attach(request: Request, identity: InProcess): void;
  of(request: Request): InProcess | undefined;
}

export function createInProcessCalls(): InProcessCalls {
  const identities = new WeakMap<Request, InProcess>();
  return {
    attach: (request, identity) => void identities.set(request, identity),
    of: (request) => identities.get(request),
  };
}
