// Finds the principal of a request's token and counts the request against its limits. Requests that are refused are counted
// here as well, so that guessing tokens has a limit.
import { ApiError } from '../lib/errors.ts';
import type { Exchange } from './exchange.ts';
import type { Authenticate, Principal } from './principal.ts';
import type { RateLimiter } from './rate-limit.ts';
import { needsCaller, type Route } from './route.ts';

export interface IdentifyOptions {
  readonly limiter: RateLimiter;
  readonly authenticate: Authenticate;
  /** The peer's name, for buckets of requests without a token. */
  readonly peerOf: (request: Request) => string;
}

type Admitted = Pick<Route, 'name' | 'limit' | 'scope' | 'anyKey'> & Partial<Pick<Route, 'kind'>>;

export interface Identify {
  /** Whose token a request carries; null where it carries none. @throws ApiError unauthorized */
  identify(request: Request): Promise<Principal | null>;
  /** The same, counted. @throws ApiError unauthorized, rate_limited */
  admit(request: Request, exchange: Exchange, route: Admitted): Promise<Principal | null>;
}

export function createIdentify(options: IdentifyOptions): Identify {
  const { limiter } = options;

  const identify: Identify['identify'] = async (request) => {
    const header = request.headers.get('authorization');
    if (header === null) return null;
    const token = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1];
    const principal = token === undefined ? null : await options.authenticate(token);
    if (!principal) throw new ApiError('unauthorized', 'The access token is unknown, expired or revoked.');
    if (principal.grant?.resource === 'mcp')
      throw new ApiError('unauthorized', 'The access token is for the MCP endpoint alone.');
    return principal;
  };

  const admit: Identify['admit'] = async (request, exchange, route) => {
    if (route.limit === 'none') return null;
    let principal: Principal | null = null;
    let failure: unknown = null;
    try {
      // What others send may carry a token of their own.
      if (route.kind !== 'inbound') principal = await identify(request);
    } catch (error) {
      failure = error;
    }
    const isRefused = failure !== null || needsCaller(route);
    exchange.verdict = principal
      ? limiter.hit(principal.tokenId, route.name, route.limit, principal.scope.workspaceId)
      : limiter.hitPeer(options.peerOf(request), isRefused ? 'refused' : 'public', route.limit);
    requireAdmitted(exchange);
    if (failure !== null) throw failure;
    return principal;
  };

  return { identify, admit };
}

/** @throws ApiError rate_limited where the limits, as they were counted, leave no room */
export function requireAdmitted({ verdict }: Exchange): void {
  if (!verdict.admitted)
    throw new ApiError('rate_limited', `Too many requests. Wait ${verdict.resetSeconds} s.`);
}
