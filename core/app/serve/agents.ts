// Routes for agents, and for people who decide on their proposals.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Config } from '../config/config.ts';
import type { Services } from '../../kernel/context.ts';
import type { FreshEvents } from '../../kernel/events/consumers/fresh.ts';
import type { App } from '../../kernel/http/app.ts';
import type { Sessions } from '../../features/sign-in/index.ts';
import type { Route } from '../../kernel/http/route.ts';
import { createMcp } from '../../features/agents/index.ts';
import { proposalPageRoutes } from '../pages/proposal/page.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { version } from '../version.ts';

interface AgentsOptions {
  readonly app: () => App;
  readonly services: Services;
  readonly fresh: FreshEvents;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly config: Config;
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
