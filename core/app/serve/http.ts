// Assembles request handling: authentication by token and by session cookie, the kernel and its adapters
// for HTTP and in-process callers, and the routes for agents and for people who decide on their proposals.
import { createFindKey, createResumeKey } from '../../features/api-keys/index.ts';
import {
  createAuthentication,
  createResume,
  createUses,
  type Authentication,
} from '../../features/people/index.ts';
import {
  createGrantEnding,
  createOAuthClients,
  type OAuthClients,
  createFindAccessToken,
  createResumeGrant,
} from '../../features/oauth/index.ts';
import {
  createSessionBearers,
  createSessions,
  type SessionBearers,
  type Sessions,
} from '../../features/sign-in/index.ts';
import type { WorkerDeps } from '../../kernel/feature.ts';
import type { Resolve } from '../../platform/lib/egress/egress.ts';
import type { Config } from '../config/config.ts';
import type { RequestAdapters, App } from '../../kernel/http/app.ts';
import { createBodies, createUploads } from '../../kernel/http/request/body.ts';
import { createCoder } from '../../kernel/http/request/coding.ts';
import { createCrossOrigin } from '../../kernel/http/request/cross-origin.ts';
import { createIdempotencyKeys } from '../../kernel/http/idempotency.ts';
import { createKernel } from '../../kernel/http/kernel.ts';
import { withIds } from '../../kernel/resource/names/named-input.ts';
import { createOutflow, type Outflow } from '../../kernel/http/response/outflow.ts';
import { createRateLimiter } from '../../kernel/http/limits/rate-limit.ts';
import type { ResumeCredential } from '../../kernel/http/principal.ts';
import { createRequests } from '../../kernel/http/requests.ts';
import { createContentionQueues } from '../../kernel/http/limits/admission.ts';
import { createValues } from '../../kernel/http/values.ts';
import { createFairPool } from '../../platform/lib/fairness/fair-queue.ts';
import { errorPage } from '../../kernel/error-page.ts';
import { createPropose } from '../../features/proposals/index.ts';
import type { Socket } from './socket.ts';
import type { FreshEvents } from '../../kernel/events/consumers/fresh.ts';
import type { Route } from '../../kernel/http/route.ts';
import { createMcp } from '../../features/agents/index.ts';
import { version } from '../version.ts';

export interface ServedIdentity {
  readonly clients: OAuthClients;
  readonly authentication: Authentication;
  readonly sessions: Sessions;
  readonly bearers: SessionBearers;
  readonly resume: ResumeCredential;
  /** Starts the background writes. */
  start(): void;
  /** Resolves once no writes are pending. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export function createIdentity(options: WorkerDeps & { resolve: Resolve; port: number }): ServedIdentity {
  const { services, committer, clock } = options;
  const { store, nowMs } = services;
  const uses = createUses(services, clock);
  const sessions = createSessions(services);
  const bearers = createSessionBearers({ ...services, sessions });
  const authentication = createAuthentication({
    committer,
    nowMs,
    finders: [createFindKey({ store, uses }), createFindAccessToken({ store, uses }), bearers.find],
  });
  sessions.onEnded(authentication.forget);
  const ending = createGrantEnding(options);
  const gone = (): void => {
    authentication.forget();
    ending.wake();
  };
  const clients = createOAuthClients({ ...options, gone });
  return {
    authentication,
    clients,
    sessions,
    bearers,
    resume: createResume([bearers.resume, createResumeKey({ store, nowMs }), createResumeGrant({ store })]),
    start: ending.start,
    async settled() {
      await uses.settled();
      await ending.settled();
    },
    async stop() {
      clients.stop();
      await ending.stop();
      await uses.stop();
    },
  };
}

/** Number of bodies that threads compress or decompress concurrently. */
const codingConcurrency = 2;

export interface HttpAdapters extends RequestAdapters {
  /** Sends large responses, and counts bytes not yet read by clients. */
  readonly outflow: Outflow;
}

export function createHttpAdapters(
  options: WorkerDeps & {
    readonly config: Config;
    readonly socket: Socket;
    readonly identity: Pick<ServedIdentity, 'authentication' | 'resume'>;
  },
): HttpAdapters {
  const { config, clock, services, committer, directoryOf, socket, identity } = options;
  const { store, ids, sealing, fairQueue, ledger, nowMs } = services;
  const { peerOf } = socket;
  const outflow = createOutflow(clock);
  const fairPool = createFairPool(codingConcurrency, (billingAccount, ms) =>
    ledger.charge(billingAccount, 'cpuMs', ms),
  );
  const coder = createCoder(fairPool);
  const bodies = createBodies(fairQueue, coder);
  const { rates } = config;
  const limits = {
    perMinute: rates,
    memberPerMinute: rates.member,
    workspacePerMinute: rates.workspace,
  };
  const limiter = createRateLimiter(limits, clock.monotonicMs);
  return {
    kernel: createKernel({
      services,
      committer,
      idempotency: createIdempotencyKeys({ store, sealing, nowMs }),
      directoryOf,
      contentionQueues: createContentionQueues(),
      propose: createPropose(committer),
      withIds,
    }),
    requests: createRequests({
      services,
      bodies,
      uploads: createUploads(clock, socket.holdOpen),
      errorPage,
      limiter,
      outflow,
      coder,
      authenticate: identity.authentication.authenticate,
      resume: identity.resume,
      holdOpen: socket.holdOpen,
      peerOf,
    }),
    values: createValues({ limiter, bodies }),
    crossOrigin: createCrossOrigin({ origins: config.corsOrigins, limiter, ids, peerOf }),
    outflow,
  };
}

interface AgentsOptions extends WorkerDeps {
  readonly app: () => App;
  readonly fresh: FreshEvents;
  readonly config: Config;
}

export interface Agents {
  readonly routes: readonly Route[];
  /** Ends the streams and pending waits of agents. */
  stop(): void;
}

export function createAgents(options: AgentsOptions): Agents {
  const { config } = options;
  const mcp = createMcp({ ...options, corsOrigins: config.corsOrigins, version });
  return { routes: mcp.routes, stop: mcp.stop };
}
