// Tables of OAuth apps, clients, grants and tokens.
import { defineTable } from '../../kernel/table/define.ts';
import { grant, oauthApp } from './contract.ts';

export const oauthAppTable = defineTable('oauth_apps', {
  contract: oauthApp,
  owner: 'workspace',
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: { not: 'apps belong to a server and are registered again on the new one' },
  log: 'own',
  quotes: { none: 'people write its texts' },
  unlogged: { secrets_json: 'hash of a secret' },
});

export const oauthClientTable = defineTable('oauth_clients', {
  owner: 'server',
  // Clients without a grant stay for one day.
  retention: {
    days: null,
    when: [
      't.used = 0 AND t.created_at <= :before - 86400000',
      't.used = 1 AND :before > 0 AND NOT EXISTS (SELECT 1 FROM grants AS g WHERE g.client_id = t.id)',
    ],
  },
  exported: { not: 'apps ask for consent again on the new server' },
  log: { local: 'facts of a program' },
  quotes: { none: 'facts of a program' },
});

export const grantTable = defineTable('grants', {
  contract: grant,
  owner: { members: 'member_id' },
  retention: { days: 'deleted', since: 'revoked_at' },
  exported: { not: 'apps ask for consent again on the new server' },
  log: 'own',
  quotes: { none: 'settings' },
  unlogged: { last_used_at: 'internal state, which no request shows' },
}).typed<{ resource: 'api' | 'mcp' }>();

export const oauthTokenTable = defineTable('oauth_tokens', {
  owner: 'server',
  retention: { expires: 'expires_at' },
  exported: { not: 'tokens belong to the server that issued them; apps ask for consent again' },
  log: { local: 'secrets' },
  quotes: { none: 'settings' },
});
