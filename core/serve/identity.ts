// Who is behind a request: by the token that it brings, or by the cookie of a browser in which a person is signed in.
import type { Committer } from '../changes/commit.ts';
import type { Services } from '../context.ts';
import { createFindKey } from '../identity/api-keys/find.ts';
import { createAuthentication, type Authentication } from '../identity/authenticate.ts';
import { createUses, type Uses } from '../identity/last-used.ts';
import { createSessions, type Sessions } from '../identity/sessions/sessions.ts';
import type { Clock } from '../lib/clock.ts';

export interface Identity {
  readonly authentication: Authentication;
  readonly sessions: Sessions;
  readonly uses: Uses;
}

export function createIdentity(options: {
  services: Services;
  committer: Committer;
  clock: Clock;
}): Identity {
  const { services, committer, clock } = options;
  const { store, nowMs } = services;
  const uses = createUses(services, clock);
  return {
    authentication: createAuthentication({ committer, nowMs, finders: [createFindKey({ store, uses })] }),
    sessions: createSessions(services),
    uses,
  };
}
