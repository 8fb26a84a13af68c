// Assembles the authorization server (RFC 6749, RFC 9700). The first request that needs the protocol library
// loads it.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Directory } from '../../kernel/context.ts';
import type { IdentityDeps } from '../people/deps.ts';
import type { Route } from '../../kernel/http/route.ts';
import type { Authentication } from '../people/authenticate.ts';
import type { Sessions } from '../sign-in/sessions.ts';
import type { Scope } from '../../platform/store/store.ts';
import type { Clients } from './clients/clients.ts';
import { consentRoutes } from './consent/routes.ts';
import { deviceRoutes } from './device/routes.ts';
import type { OAuthEngine } from './engine/engine.ts';
import { createGrants } from './grant-requests.ts';
import { metadataRoutes } from './metadata.ts';
import { protocolRoutes } from './protocol.ts';
import { createTokens } from './tokens.ts';

export interface OAuthOptions {
  readonly services: IdentityDeps;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly sessions: Sessions;
  readonly clients: Clients;
  readonly authentication: Authentication;
}

export function oauthRoutes(options: OAuthOptions): Route[] {
  const { services, sessions, clients, authentication } = options;
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
  const pages = { ...options, tokens, engine };
  return [
    ...metadataRoutes(baseUrl),
    ...protocolRoutes({ engine, nowMs }),
    ...consentRoutes(pages),
    ...deviceRoutes(pages),
  ];
}
