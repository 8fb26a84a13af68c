// Table of SLA policies.
import { defineTable } from '../../kernel/table/define.ts';
import { slaPolicy } from './contract.ts';

export const slaPolicyTable = defineTable('sla_policies', {
  contract: slaPolicy,
  owner: 'workspace',
  retention: { forever: 'people create them one by one, and issues, keys and history refer to them' },
  exported: {},
  log: 'own',
  quotes: { none: 'people write its texts' },
});
