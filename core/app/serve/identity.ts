// Assembles authentication by token and by session cookie.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Directory, Services } from '../../kernel/context.ts';
import { createFindKey } from '../../features/api-keys/index.ts';
import { createAuthentication, type Authentication, createUses } from '../../features/people/index.ts';
import {
  createGrantEnding,
  createOAuthClients,
  type OAuthClients,
  createFindAccessToken,
} from '../../features/oauth/index.ts';
import { createSessions, type Sessions } from '../../features/sign-in/index.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Resolve } from '../../platform/lib/egress/egress.ts';
import type { Scope } from '../../platform/store/store.ts';

export interface ServedIdentity {
  readonly clients: OAuthClients;
  readonly authentication: Authentication;
  readonly sessions: Sessions;
  /** Starts the background writes. */
  start(): void;
  /** Resolves once no writes are pending. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export function createIdentity(options: {
  services: Services;
  committer: Committer;
  clock: Clock;
  directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  resolve: Resolve;
  port: number;
}): ServedIdentity {
  const { services, committer, clock } = options;
  const { store, nowMs } = services;
  const uses = createUses(services, clock);
  const authentication = createAuthentication({
    committer,
    nowMs,
    finders: [createFindKey({ store, uses }), createFindAccessToken({ store, uses })],
  });
  const ending = createGrantEnding(options);
  const gone = (): void => {
    authentication.forget();
    ending.wake();
  };
  const clients = createOAuthClients({ ...options, gone });
  return {
    authentication,
    clients,
    sessions: createSessions(services),
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
