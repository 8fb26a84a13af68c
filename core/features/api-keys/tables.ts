// Table of API keys.
import { apiKey } from './contract.ts';
import { defineTable } from '../../kernel/table/define.ts';

const hidden = 'internal state, which no request shows';

export const apiKeyTable = defineTable('api_keys', {
  contract: apiKey,
  owner: { members: 'member_id' },
  retention: { days: 'deleted', when: ['t.revoked_at <= :before OR t.expires_at <= :before'] },
  exported: { not: 'keys belong to a server; create new ones with `tatami keys create`' },
  log: 'own',
  quotes: { none: 'settings' },
  unlogged: {
    secret_hash: 'hash of a secret',
    last_used_at: hidden,
    created_by: hidden,
    created_with: hidden,
    lineage_id: hidden,
  },
});
