// Table of custom fields.
import { defineTable } from '../../kernel/table/define.ts';
import { field } from './contract.ts';

export const fieldTable = defineTable('fields', {
  contract: field,
  owner: 'workspace',
  retention: { forever: 'people create them one by one, and issues, keys and history refer to them' },
  exported: {},
  log: 'own',
  quotes: { none: 'people write its texts' },
});
