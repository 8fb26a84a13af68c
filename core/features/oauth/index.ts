import { equal, idOf, type Data } from '../../kernel/checks.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { oauthApps } from './apps.ts';
import { grants } from './grants.ts';

export const oauth = defineFeature({
  name: 'oauth',
  resources: [oauthApps, grants],
  tagGroup: 'People and access',
  facts: {
    grant: () => [
      equal('client', 'client_id', ({ client }) => idOf(client)),
      equal('client', 'client_name', ({ client }) => (client as Data | undefined)?.name),
      equal('client', 'client_kind', ({ client }) => (client as Data | undefined)?.kind),
      equal('client', 'client_verified', ({ client }) => Number((client as Data).verified)),
      equal('scopes', 'scopes_json', ({ scopes }) => scopes),
    ],
  },
});

export { grantsOfAccount } from './account-section.ts';
export { createFindAccessToken, createResumeGrant } from './tokens.ts';
export { createGrantEnding, createAccountGrants } from './grant-ending.ts';
export { clientIsThere, grantModel } from './grants.ts';
export { createOAuthClients, oauthRoutes, type OAuthClients } from './runtime.ts';
