// Authenticates a request and counts it against its rate limits. Rejected requests count as well, which limits the guessing of tokens.
import { ApiError, rateLimited } from '../../../platform/lib/errors/errors.ts';
import type { Exchange } from '../exchange.ts';
import type { Authenticate, Granted, Principal } from '../principal.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { needsCaller, type Admission, type Route } from '../route.ts';

export interface IdentifyOptions {
  readonly limiter: RateLimiter;
  readonly authenticate: Authenticate;
  /** Name of the client's rate-limit buckets, for requests without a token. */
  readonly peerOf: (request: Request) => string;
}

/** A route, or the admission to a path without one. */
type Admitted = Admission & { readonly kind?: Route['kind'] };

export interface Identify {
  /**
   * Returns the principal of the token in a request; null without a token.
   * @param resource resource that a grant must be for; default the API
   * @throws ApiError unauthorized
   */
  identify(request: Request, resource?: Granted['resource']): Promise<Principal | null>;
  /** Authenticates and counts the request. @throws ApiError unauthorized, rate_limited */
  admit(request: Request, exchange: Exchange, route: Admitted): Promise<Principal | null>;
}

const resourceWords = { api: 'the REST API', mcp: 'the MCP endpoint' } as const;

export function createIdentify(options: IdentifyOptions): Identify {
  const { limiter } = options;

  const identify: Identify['identify'] = async (request, resource = 'api') => {
    const header = request.headers.get('authorization');
    if (header === null) return null;
    const token = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1];
    const principal = token === undefined ? null : await options.authenticate(token);
    if (!principal)
      throw new ApiError(
        'unauthorized',
        'The access token is unknown, expired or revoked. Send a valid token.',
      );
    if (principal.grant && principal.grant.resource !== resource)
      throw new ApiError(
        'unauthorized',
        `The access token is valid only for ${resourceWords[principal.grant.resource]}. Request another token.`,
      );
    return principal;
  };

  const admit: Identify['admit'] = async (request, exchange, route) => {
    if (route.limit === 'none') return null;
    let principal: Principal | null = null;
    let failure: unknown = null;
    try {
      // An inbound request may carry a token that the sender issued, which is no credential of this server.
      if (route.kind !== 'inbound' || route.resource) principal = await identify(request, route.resource);
    } catch (error) {
      failure = error;
    }
    const isRefused = failure !== null || needsCaller(route) || route.resource !== undefined;
    if (principal) exchange.verdict = limiter.hit(principal, route.name, route.limit);
    else {
      exchange.peer = options.peerOf(request);
      exchange.verdict = limiter.hitPeer(exchange.peer, isRefused ? 'refused' : 'public', route.limit);
    }
    requireAdmitted(exchange);
    // Handlers of routes with `resource` themselves respond to a request with a rejected token.
    if (failure !== null && !(route.resource && failure instanceof ApiError)) throw failure;
    return principal;
  };

  return { identify, admit };
}

/** @throws ApiError rate_limited if the counted request exceeds a limit */
export function requireAdmitted({ verdict }: Exchange): void {
  if (!verdict.admitted)
    throw rateLimited(`Too many requests. Wait ${verdict.resetSeconds} s.`, verdict.resetSeconds);
}
