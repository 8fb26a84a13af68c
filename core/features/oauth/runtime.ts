// Assembles the authorization server (RFC 6749, RFC 9700). The first request that needs the protocol library
// loads it.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Directory } from '../../kernel/context.ts';
import type { IdentityDeps, Authentication } from '../people/index.ts';
import type { Route } from '../../kernel/http/route.ts';
import type { Sessions } from '../sign-in/index.ts';
import type { Scope } from '../../platform/store/store.ts';
import { createEgress, type Resolve } from '../../platform/lib/egress/egress.ts';
import { createClients, type Clients } from './clients/clients.ts';
import { createDocuments } from './clients/documents.ts';
import { createRegisteredClients, createRegistration, type Registration } from './clients/registration.ts';
import { registrationRoutes } from './clients/routes.ts';
import { consentRoutes, deviceRoutes } from './consent/routes.ts';
import type { OAuthEngine } from './engine/engine.ts';
import { createGrants } from './grant-requests.ts';
import { metadataRoutes } from './metadata.ts';
import { protocolRoutes } from './protocol.ts';
import { createTokens } from './tokens.ts';

export interface OAuthClients {
  readonly clients: Clients;
  readonly registration: Registration;
  stop(): void;
}

export function createOAuthClients(options: {
  services: IdentityDeps;
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

export interface OAuthOptions {
  readonly services: IdentityDeps;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly sessions: Sessions;
  readonly clients: OAuthClients;
  readonly authentication: Authentication;
}

export function oauthRoutes(options: OAuthOptions): Route[] {
  const { services, sessions, authentication } = options;
  const { clients, registration } = options.clients;
  const { baseUrl, sealing, log, nowMs } = services;
  const tokens = createTokens(services);
  const grants = createGrants(options);
  let loading: Promise<OAuthEngine> | undefined;
  const load = async (): Promise<OAuthEngine> => {
    const { createEngine } = await import('./engine/engine.ts');
    return createEngine({
      baseUrl,
      log,
      nowMs,
      sealing,
      tokens,
      clients,
      grants,
      // Called when an access token ends before its grant.
      forget: authentication.forget,
      isSignedIn: async (headers) => (await sessions.find(headers)) !== null,
    });
  };
  const engine = (): Promise<OAuthEngine> => (loading ??= load());
  const { committer, directoryOf } = options;
  const consentParts = { services, committer, directoryOf, sessions, clients, tokens, engine };
  return [
    ...registrationRoutes(registration),
    ...metadataRoutes(baseUrl),
    ...protocolRoutes(engine, nowMs),
    ...consentRoutes(consentParts),
    ...deviceRoutes(consentParts),
  ];
}
