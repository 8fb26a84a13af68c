// Table of the hosts of automations.
import { defineTable } from '../../kernel/table/define.ts';
import { automationHost } from './contract.ts';

export const automationHostTable = defineTable('automation_hosts', {
  contract: automationHost,
  owner: 'workspace',
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: { not: 'an admin of the new server decides which servers it sends to' },
  log: 'own',
  quotes: { none: 'people write its texts' },
  unlogged: { secret_sealed: 'secrets' },
});
