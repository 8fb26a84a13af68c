// Reads from a request what an operation needs: its caller, who is counted against the rate limits, its
// input, and its context.
import type { TSchema } from 'typebox';
import type { BillingAccount } from '../../../platform/lib/billing-account.ts';
import { ApiError, rateLimited } from '../../../platform/lib/errors/errors.ts';
import { jsonPartsMax } from '../../../platform/lib/json/json.ts';
import { normalizerOf } from '../../../platform/lib/text/printable.ts';
import type { Scope } from '../../../platform/store/store.ts';
import type { Staging } from '../../changes/staging.ts';
import type { Context, Directory, Services } from '../../context.ts';
import { authorityOf, teamsSeen } from '../../rights/rights.ts';
import type { Call } from '../call.ts';
import { requireAlso } from '../limits/admission.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import type { Authenticate, Granted, Principal } from '../principal.ts';
import type { Exchange } from '../requests.ts';
import { type Admission, needsCaller, type Route } from '../route.ts';
import { bodyBytesMaxDefault, type ReadBody } from './body.ts';
import type { Incoming, RequestAdapter } from './request.ts';
import { compileCheck, compileQuery, noInput, requireStorable } from './validate.ts';

export interface IdentifyOptions {
  readonly limiter: RateLimiter;
  readonly authenticate: Authenticate;
  /** Name of the client's rate-limit buckets, for requests without a token. */
  readonly peerOf: (request: Request) => string;
}

/** A route, or the admission to a path without one. */
type Admitted = Admission & { readonly kind?: Route['kind'] };

/**
 * Authenticates a request and counts it against its rate limits. Rejected requests count as well, which
 * limits the guessing of tokens.
 */
export interface Identify {
  /**
   * Returns the principal of the token in a request; null without a token.
   * @param resource resource that a grant must be for; default the API
   * @throws ApiError unauthorized
   */
  identify(request: Request, resource?: Granted['resource']): Promise<Principal | null>;
  /** Authenticates and counts the request. Throws, or rejects with, ApiError unauthorized or rate_limited. */
  admit(request: Request, exchange: Exchange, route: Admitted): Principal | null | Promise<Principal | null>;
  /**
   * Counts a request that is authenticated by its URL.
   * @param principal null for a URL that is invalid or has expired
   * @throws ApiError not_found, rate_limited
   */
  admitSigned(request: Request, exchange: Exchange, route: Admitted, principal: Principal | null): Principal;
}

const resourceWords = { api: 'the REST API', mcp: 'the MCP endpoint' } as const;

/** Returns a function that counts a request. @param failure error of the authentication; null if it succeeded */
function createCounted({ limiter, peerOf }: IdentifyOptions) {
  return (
    request: Request,
    exchange: Exchange,
    route: Admitted,
    principal: Principal | null,
    failure: unknown,
  ): Principal | null => {
    const isRefused = failure !== null || needsCaller(route) || route.resource !== undefined;
    if (principal) exchange.verdict = limiter.hit(principal, route.name, route.limit);
    else {
      exchange.peer = peerOf(request);
      exchange.verdict = limiter.hitPeer(exchange.peer, isRefused ? 'refused' : 'public', route.limit);
    }
    requireAdmitted(exchange);
    // Handlers of routes with `resource` themselves respond to a request with a rejected token.
    if (failure !== null && !(route.resource && failure instanceof ApiError)) throw failure;
    return principal;
  };
}

export function createIdentify(options: IdentifyOptions): Identify {
  /** Returns no promise for a cached token, which most requests have. @throws ApiError unauthorized */
  const principalOf = (
    request: Request,
    resource: Granted['resource'] = 'api',
  ): Principal | null | Promise<Principal | null> => {
    const header = request.headers.get('authorization');
    if (header === null) return null;
    const token = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1];
    const found = token === undefined ? null : options.authenticate(token);
    return found instanceof Promise
      ? found.then((principal) => entitled(principal, resource))
      : entitled(found, resource);
  };

  const counted = createCounted(options);

  const admit: Identify['admit'] = (request, exchange, route) => {
    if (route.limit === 'none') return null;
    let principal: ReturnType<typeof principalOf> = null;
    try {
      // An inbound request may carry a token that the sender issued, which is no credential of this server.
      if (route.kind !== 'inbound' || route.resource) principal = principalOf(request, route.resource);
    } catch (error) {
      return counted(request, exchange, route, null, error);
    }
    if (!(principal instanceof Promise)) return counted(request, exchange, route, principal, null);
    return principal.then(
      (found) => counted(request, exchange, route, found, null),
      (error: unknown) => counted(request, exchange, route, null, error),
    );
  };

  return {
    identify: async (request, resource) => principalOf(request, resource),
    admit,
    admitSigned(request, exchange, route, principal) {
      const failure = principal ? null : new ApiError('not_found');
      return counted(request, exchange, route, principal, failure)!;
    },
  };
}

/** @throws ApiError unauthorized if the token has no principal, or is for another resource */
function entitled(principal: Principal | null, resource: Granted['resource']): Principal {
  if (!principal)
    throw new ApiError(
      'unauthorized',
      'The access token is unknown, expired or revoked. Send a valid token.',
    );
  if (principal.session && resource !== 'api')
    throw new ApiError('unauthorized', 'A session is valid only for the web app. Use a key or a grant.');
  if (principal.grant && principal.grant.resource !== resource)
    throw new ApiError(
      'unauthorized',
      `The access token is valid only for ${resourceWords[principal.grant.resource]}. Request another token.`,
    );
  return principal;
}

/** @throws ApiError rate_limited if the counted request exceeds a limit */
export function requireAdmitted({ verdict }: Exchange): void {
  if (!verdict.admitted)
    throw rateLimited(`Too many requests. Wait ${verdict.resetSeconds} s.`, verdict.resetSeconds);
}

/**
 * Reads the input of a route: path parameters, query and body, each validated by a schema that is compiled
 * once.
 */
interface InputReader {
  /** @throws ApiError malformed_request, not_found; for a PUT validation_failed */
  checkParams<In extends Incoming>(adapter: RequestAdapter<In, unknown>, incoming: In): void;
  /** @throws ApiError validation_failed */
  query(texts: Iterable<readonly [name: string, text: string]>): Record<string, unknown>;
  /** Returns null if the route reads no body. Throws, or rejects with, the errors of the adapter. */
  body<In extends Incoming>(
    adapter: RequestAdapter<In, unknown>,
    incoming: In,
    exchange: Exchange,
    billingAccount: BillingAccount,
  ): ReadBody | Promise<ReadBody> | null;
}

export function createInputReader(route: Route): InputReader {
  const checkParams = route.params ? compileCheck(route.params) : null;
  return {
    checkParams(adapter, incoming) {
      if (!checkParams) return;
      adapter.requirePath(incoming);
      // An id in a wrong format gets the same response as one that does not exist.
      orNotFound(() => checkParams(incoming.params));
      const requireEach = (): void => requireStorable(incoming.params);
      // A PUT may create the object that the path names, so its name is validated like a field.
      return route.method === 'PUT' ? requireEach() : orNotFound(requireEach);
    },
    // Inbound requests may have any query parameters, so none are validated.
    query: route.kind === 'inbound' ? () => ({}) : compileQuery(route.query ?? noInput),
    body: createBodyReader(route),
  };
}

/** @throws ApiError not_found in place of any other ApiError */
function orNotFound(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof ApiError) throw new ApiError('not_found');
    throw error;
  }
}

/**
 * Normalizes titles and names in place after the body is validated. Like the check, the normalizer is created
 * on first use.
 */
function checkAndNormalize(schema: TSchema): (value: unknown) => void {
  const check = compileCheck(schema);
  let normalize: ReturnType<typeof normalizerOf> | undefined;
  return (value) => {
    check(value);
    if (normalize === undefined) normalize = normalizerOf(schema);
    normalize?.(value);
  };
}

function createBodyReader(route: Route): InputReader['body'] {
  const checkBody = route.body ? checkAndNormalize(route.body) : null;
  // A write without a body rejects a body with fields; the error names them.
  const checkNoBody = route.kind === 'write' && !route.body ? compileCheck(noInput) : null;
  const limits = {
    bytesMax: (checkBody && route.bodyBytesMax) ?? bodyBytesMaxDefault,
    partsMax: route.bodyPartsMax ?? jsonPartsMax,
  };
  return (adapter, incoming, exchange, billingAccount) => {
    const check = checkBody ?? (checkNoBody && adapter.bringsBody(incoming) ? checkNoBody : null);
    if (!check) return null;
    const reading = adapter.readBody(incoming, exchange, billingAccount, limits, check);
    return reading instanceof Promise ? waited(exchange, reading) : noted(exchange, reading);
  };
}

async function waited(exchange: Exchange, reading: Promise<ReadBody>): Promise<ReadBody> {
  const startedMs = performance.now();
  try {
    return noted(exchange, await reading);
  } finally {
    exchange.waiting.ms += performance.now() - startedMs;
  }
}

function noted(exchange: Exchange, body: ReadBody): ReadBody {
  exchange.bytesIn = body.size;
  exchange.release = body.release;
  return body;
}

export interface ContextOptions {
  readonly services: Services;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
}

/** Returns the overrides for a read at a past moment. */
const thenOf = (staged: Staging | null): { readonly directory: Directory; nowMs(): number } | null => {
  const past = staged?.past;
  return past ? { directory: past.directory, nowMs: () => past.atMs } : null;
};

/**
 * Creates the context of an operation: the caller, the workspace and the objects that are visible to the
 * caller. The returned function rejects with ApiError insufficient_scope if the requested object needs more
 * scopes.
 */
export function createContextOf(
  route: Route,
  { services, directoryOf }: ContextOptions,
): (call: Call) => Context | Promise<Context> {
  const contextIn = (directory: Directory, { principal, origin, exchange, terms }: Call): Context => ({
    ...services,
    scope: { ...principal.scope, waiting: exchange.waiting },
    workspaceId: principal.scope.workspaceId,
    directory,
    ...thenOf(origin.staged),
    actor: principal.actor,
    authority: authorityOf(principal),
    membership: principal.membership,
    session: principal.session,
    scopes: principal.scopes,
    narrowed: principal.narrowed,
    visibleTeams: teamsSeen(route.scope, principal, origin.staged?.past?.directory ?? directory),
    cause: origin.cause,
    requestId: exchange.requestId,
    traceparent: origin.traceparent,
    simulates: terms.mode === 'simulate',
    staged: origin.staged,
  });
  const contextOf = (call: Call): Context | Promise<Context> => {
    const directory = directoryOf(call.principal.scope);
    return directory instanceof Promise
      ? directory.then((read) => contextIn(read, call))
      : contextIn(directory, call);
  };
  if (!route.also) return contextOf;
  return async (call) => {
    const ctx = await contextOf(call);
    await requireAlso(route, call.principal, ctx, call.input, call.terms.mode === 'propose');
    return ctx;
  };
}
