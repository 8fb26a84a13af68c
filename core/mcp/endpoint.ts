// The MCP endpoint, `/api/mcp/streamable-http`, for both generations of the protocol. Requests are
// authenticated here; the SDK processes the messages. The first request loads the SDK, so that a server
// without agents does not use memory for it.
import { Type } from 'typebox';
import type { Committer } from '../changes/commit.ts';
import type { Services } from '../context.ts';
import type { FreshEvents } from '../events/fresh.ts';
import type { App } from '../http/app.ts';
import type { Principal } from '../http/principal.ts';
import { defineRoute, type RawRequest, type RawAnswer, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { createAgents, type Agent } from './agent.ts';
import { lackOf, mcpPath, noToken } from './challenge.ts';
import { createDecisions } from './decisions.ts';
import { requireKnownHost, type Hosts } from './hosts.ts';
import { bodyIn, toolsCalled, watchedBy } from './messages.ts';
import { createServerOf, type Serving } from './server.ts';
import { createSubscriptions, type McpSubscriptions } from './subscriptions.ts';
import { createTools } from './tools/tools.ts';
import { bodyBytesMax, carry } from './transport.ts';

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

export interface McpOptions extends Pick<Hosts, 'corsOrigins'> {
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
