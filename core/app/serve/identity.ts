// Assembles authentication by token and by session cookie, and the OAuth clients.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Directory, Services } from '../../kernel/context.ts';
import { createFindKey } from '../../features/api-keys/find.ts';
import { createAuthentication, type Authentication } from '../../features/people/authenticate.ts';
import { createGrantEnding } from '../../features/oauth/grants/ending.ts';
import { createUses } from '../../features/people/last-used.ts';
import { createSessions, type Sessions } from '../../features/sign-in/sessions.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { type Resolve, createEgress } from '../../platform/lib/egress/egress.ts';
import { createFindAccessToken } from '../../features/oauth/find-token.ts';
import type { Scope } from '../../platform/store/store.ts';
import { createClients, type Clients } from '../../features/oauth/clients/clients.ts';
import { createDocuments } from '../../features/oauth/clients/documents.ts';
import { createRegisteredClients } from '../../features/oauth/clients/registered.ts';
import { createRegistration, type Registration } from '../../features/oauth/clients/registration.ts';

// Assembles the OAuth clients: lookup and registration.

interface ServedClients {
  readonly clients: Clients;
  readonly registration: Registration;
}

interface OAuthClients extends ServedClients {
  stop(): void;
}

export function createOAuthClients(options: {
  services: Services;
  resolve: Resolve;
  port: number;
  /** Called after a client was deleted. */
  gone: () => void;
}): OAuthClients {
  const { services, resolve, port, gone } = options;
  // Anonymous callers can trigger fetches of client documents, so the networks allowed for webhooks and plugins do not apply.
  const egress = createEgress({ allow: [], ownPort: () => port, resolve });
  const registered = createRegisteredClients(services);
  const documents = createDocuments({ egress, nowMs: services.nowMs });
  return {
    clients: createClients({ services, registered, documents }),
    registration: createRegistration({ services, registered, gone }),
    stop: egress.close,
  };
}

export interface ServedIdentity extends ServedClients {
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
  const { clients, registration, stop } = createOAuthClients({ ...options, gone });
  return {
    authentication,
    clients,
    registration,
    sessions: createSessions(services),
    start: ending.start,
    async settled() {
      await uses.settled();
      await ending.settled();
    },
    async stop() {
      stop();
      await ending.stop();
      await uses.stop();
    },
  };
}
