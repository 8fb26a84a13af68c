// The MCP endpoint, `/api/mcp/streamable-http`, for both generations of the protocol. Requests are
// authenticated here; the SDK processes the messages. The first request loads the SDK, so that a server
// without agents does not use memory for it.
import { Type } from 'typebox';
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Services } from '../../kernel/context.ts';
import type { FreshEvents } from '../../kernel/events/consumers/fresh.ts';
import type { App } from '../../kernel/http/app.ts';
import type { Principal } from '../../kernel/http/principal.ts';
import { defineRoute, type RawRequest, type RawAnswer, type Route } from '../../kernel/http/route.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { createAgents, type Agent } from './agent.ts';
import { createDecisions } from './decisions.ts';
import { bodyIn, toolsCalled, watchedBy, mayWait, type Body } from './messages.ts';
import { createServerOf, type Serving } from './server.ts';
import { createSubscriptions, type McpSubscriptions, type McpSubscription } from './subscriptions.ts';
import { createTools } from './tools/tools.ts';
import { isIP } from 'node:net';
import { isLoopbackHost } from '../../platform/lib/address.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { appScopes } from '../../kernel/rights/roles.ts';
import type * as Sdk from '@modelcontextprotocol/server';
import type { ExemptConnection } from '../../kernel/http/response/outflow.ts';

/**
 * Scopes that the challenge requests by default. The reads that writes imply are listed, so that a person can
 * deselect the writes.
 */
const firstScopes = [
  ...[
    'boards:read',
    'comments:read',
    'comments:write',
    'cycles:read',
    'issues:read',
    'issues:write',
    'labels:read',
  ],
  ...['members:read', 'projects:read', 'proposals:read', 'teams:read', 'workflows:read'],
];

interface Hosts {
  readonly baseUrl: string;
  /** Origins whose pages may call the endpoint. `*` allows none here: each origin must be listed. */
  readonly corsOrigins: '*' | readonly string[];
}

/**
 * Protects the endpoint against DNS rebinding.
 * @throws ApiError forbidden
 */
function requireKnownHost(headers: Headers, { baseUrl, corsOrigins }: Hosts): void {
  const own = new URL(baseUrl);
  const host = hostnameOf(`http://${headers.get('host') ?? ''}`);
  if (host === null || !(host === own.hostname || isOfNobody(host)))
    throw new ApiError(
      'forbidden',
      `The host ${headers.get('host') ?? ''} is not the address of this server. Use ${own.host}, or ask the administrator to set --base-url.`,
    );
  const origin = headers.get('origin');
  if (origin === null || origin === own.origin || (corsOrigins !== '*' && corsOrigins.includes(origin)))
    return;
  const from = hostnameOf(origin);
  if (from !== null && isLoopbackHost(from)) return;
  throw new ApiError(
    'forbidden',
    `Pages of ${origin} may not call this server. Ask the administrator to add the origin to --cors-origins.`,
  );
}

/**
 * Returns true for loopback names and IP addresses, which DNS rebinding cannot use, because they are not
 * resolved by DNS.
 */
function isOfNobody(hostname: string): boolean {
  return isLoopbackHost(hostname) || isIP(hostname.replaceAll(/^\[|\]$/g, '')) !== 0;
}

function hostnameOf(url: string): string | null {
  try {
    return new URL(url).hostname || null;
  } catch {
    return null;
  }
}

export interface McpOptions {
  readonly corsOrigins: Hosts['corsOrigins'];
  readonly app: () => App;
  readonly services: Services;
  readonly fresh: FreshEvents;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly version: string;
}

export interface Mcp {
  readonly routes: readonly Route[];
  stop(): void;
}

interface Loaded extends Serving {
  agentOf(principal: Principal, identify: RawRequest['identify']): Agent;
}

// `WWW-Authenticate` challenges with the URL of the metadata and the scopes that a client needs (RFC 6750 §3,
// RFC 9728 §5.1).

const mcpPath = '/api/mcp/streamable-http';

function challenge(baseUrl: string, scopes: Iterable<string>, error: string | null): Record<string, string> {
  const metadata = `${baseUrl}/.well-known/oauth-protected-resource${mcpPath}`;
  const parts = [
    ...(error === null ? [] : [`error="${error}"`]),
    `resource_metadata="${metadata}"`,
    `scope="${[...scopes].join(' ')}"`,
  ];
  return { 'www-authenticate': `Bearer ${parts.join(', ')}` };
}

/** Returns the error for a request without a token that is valid for this endpoint. */
function noToken(headers: Headers, baseUrl: string, scopes: Iterable<string>): ApiError {
  const hasToken = headers.has('authorization');
  return new ApiError(
    'unauthorized',
    hasToken
      ? 'The access token is unknown, expired, revoked, or not valid for the MCP endpoint. Request a new one.'
      : 'Send an access token: Authorization: Bearer ….',
    { headers: challenge(baseUrl, scopes, hasToken ? 'invalid_token' : null) },
  );
}

/**
 * Returns the error for an app whose grant lacks scopes that a tool needs. Null if nothing is missing; for
 * keys, which cannot request scopes; and if a missing scope is not available to apps, because a challenge
 * would make the client request it in vain.
 */
export function lackOf(
  { grant, scopes, narrowed }: Principal,
  needed: readonly string[],
  baseUrl: string,
): ApiError | null {
  const missing = needed.filter((scope) => !scopes.has(scope) && !narrowed?.has(scope));
  if (!grant || missing.length === 0 || missing.some((scope) => !appScopes.includes(scope))) return null;
  const wanted = new Set([...scopes, ...(narrowed?.keys() ?? []), ...missing]);
  return new ApiError(
    'insufficient_scope',
    `The tool needs the scope ${missing.join(', ')}, which the grant does not have. Ask for a new consent.`,
    {
      headers: challenge(baseUrl, [...wanted].sort(), 'insufficient_scope'),
    },
  );
}

const bodyBytesMax = 1024 * 1024;
const keepAliveMs = 15_000;

/** The part of a request that the SDK reads. */
interface CarriedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly holdOpen: RawRequest['holdOpen'];
}

interface Carried {
  readonly baseUrl: string;
  readonly rawRequest: CarriedRequest;
  readonly bytes: Uint8Array;
  readonly body: Body;
  /** Null for a request without a subscription. */
  readonly subscription: McpSubscription | null;
}

export async function carry(
  { createMcpHandler }: typeof Sdk,
  makeServer: Sdk.McpServerFactory,
  { baseUrl, rawRequest, bytes, body, subscription }: Carried,
): Promise<RawAnswer> {
  const connection = mayWait(body) ? rawRequest.holdOpen() : null;
  const handler = createMcpHandler(makeServer, {
    // Subscriptions send their own heartbeats.
    keepAliveMs: subscription ? 0 : keepAliveMs,
    maxRequestBodySize: bodyBytesMax,
    ...(subscription ? { bus: subscription.bus } : {}),
  });
  const { method, headers, path } = rawRequest;
  const request = new Request(`${baseUrl}${path}`, {
    method,
    headers,
    ...(method === 'POST' ? { body: new Uint8Array(bytes) } : {}),
    ...(subscription ? { signal: subscription.signal } : {}),
  });
  const response = await handler.fetch(request, body.parsed === undefined ? {} : { parsedBody: body.parsed });
  return rawOf(response, subscription, connection);
}

const ownHeaders = new Set(['content-type', 'content-length', 'cache-control', 'connection']);

async function rawOf(
  { status, headers, body }: Response,
  subscription: McpSubscription | null,
  connection: ExemptConnection | null,
): Promise<RawAnswer> {
  const contentType = headers.get('content-type') ?? 'application/json';
  const others = Object.fromEntries([...headers].filter(([name]) => !ownHeaders.has(name)));
  const answered = { status, contentType, headers: others };
  if (body && contentType.startsWith('text/event-stream'))
    return { ...answered, body: subscription ? subscription.body(body) : ending(body, connection) };
  subscription?.end();
  const text = body ? await new Response(body).text() : '';
  connection?.letGo();
  return { ...answered, body: text };
}

/** Releases the long-lived connection at the end of the stream. */
function ending(
  stream: ReadableStream<Uint8Array>,
  connection: ExemptConnection | null,
): ReadableStream<Uint8Array> {
  if (!connection) return stream;
  return stream.pipeThrough(new TransformStream({ flush: () => connection.letGo() }));
}

export function createMcp(options: McpOptions): Mcp {
  const { services, fresh, clock, committer } = options;
  const { baseUrl } = services;
  const hosts = { baseUrl, corsOrigins: options.corsOrigins };
  const decisions = createDecisions(fresh, clock);
  const subscriptions = createSubscriptions({ fresh, clock, committer });
  let loading: Promise<Loaded> | undefined;
  const load = async (): Promise<Loaded> => {
    const sdk = await import('@modelcontextprotocol/server');
    const app = options.app();
    const tools = createTools((name) => app.route(name), { baseUrl, decisions });
    const { log, sealing } = services;
    const { version } = options;
    return {
      sdk,
      tools,
      decisions,
      log,
      sealing,
      version,
      baseUrl,
      agentOf: createAgents(app),
    };
  };
  const inbound = async (rawRequest: RawRequest): Promise<RawAnswer> => {
    requireKnownHost(rawRequest.headers, hosts);
    const { principal } = rawRequest;
    if (!principal) throw noToken(rawRequest.headers, baseUrl, firstScopes);
    const bytes = await rawRequest.read(bodyBytesMax);
    return serve(await (loading ??= load()), subscriptions, rawRequest, principal, bytes);
  };
  const routeOf = (method: 'GET' | 'POST' | 'DELETE', name: string, summary: string): Route =>
    defineRoute({
      method,
      path: mcpPath,
      name: `mcp.${name}`,
      summary,
      scope: null,
      limit: 'read',
      resource: 'mcp',
      contentType: 'application/json-rpc',
      responses: { 200: Type.Unknown() },
      inbound: (_, rawRequest) => inbound(rawRequest),
    });
  return {
    routes: [
      routeOf('POST', 'send', 'Send a message (Model Context Protocol)'),
      routeOf('GET', 'listen', 'Refuse a GET request (status 405); POST opens streams'),
      routeOf('DELETE', 'end', 'Refuse to end a session (status 405); there are no sessions'),
    ],
    stop() {
      decisions.stop();
      subscriptions.stop();
    },
  };
}

/** @throws ApiError insufficient_scope, budget_exceeded, rate_limited */
async function serve(
  loaded: Loaded,
  subscriptions: McpSubscriptions,
  rawRequest: RawRequest,
  principal: Principal,
  bytes: Uint8Array,
): Promise<RawAnswer> {
  const { baseUrl, tools } = loaded;
  const body = bodyIn(bytes);
  const needed = toolsCalled(body).flatMap((name) => tools.scopesOf(name) ?? []);
  const lack = lackOf(principal, needed, baseUrl);
  if (lack) throw lack;
  const uris = watchedBy(body);
  const subscription = uris && subscriptions.open({ ...rawRequest, principal }, uris);
  try {
    const agent = loaded.agentOf(principal, rawRequest.identify);
    const makeServer = ({ era }: { era: 'legacy' | 'modern' }) => createServerOf(loaded, agent, era);
    return await carry(loaded.sdk, makeServer, { baseUrl, rawRequest, bytes, body, subscription });
  } catch (error) {
    subscription?.end();
    throw error;
  }
}
