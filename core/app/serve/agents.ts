// Routes for agents, and for people who decide on their proposals.
import type { Config } from '../config/config.ts';
import type { Sessions } from '../../features/sign-in/sessions/sessions.ts';
import type { Route } from '../../kernel/http/route.ts';
import { createMcp, type McpOptions } from '../../features/agents/endpoint.ts';
import { proposalPageRoutes } from '../pages/proposal/page.ts';
import { version } from '../version.ts';

interface AgentsOptions extends Omit<McpOptions, 'corsOrigins' | 'version'> {
  readonly config: Pick<Config, 'corsOrigins'>;
  readonly sessions: Sessions;
}

export interface Agents {
  readonly routes: readonly Route[];
  /** Ends the streams and pending waits of agents. */
  stop(): void;
}

export function createAgents(options: AgentsOptions): Agents {
  const { app, config, services, sessions } = options;
  const mcp = createMcp({ ...options, corsOrigins: config.corsOrigins, version });
  const pages = proposalPageRoutes({ app, sessions, baseUrl: services.baseUrl });
  return { routes: [...mcp.routes, ...pages], stop: mcp.stop };
}
