import { grantTypes, type OAuthClient } from './client.ts';

export const builtinClients: ReadonlyMap<string, OAuthClient> = new Map(
  [
    {
      id: 'tatami-cli',
      kind: 'app',
      name: 'Tatami command line',
      homepage: null,
      redirectUris: ['http://127.0.0.1/callback', 'http://[::1]/callback'],
      confidential: false,
      grantTypes,
      registeredIn: null,
    } as const,
  ].map((client) => [client.id, client]),
);
