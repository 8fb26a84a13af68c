// Table of labels.
import { defineTable } from '../../kernel/table/define.ts';
import { label } from './contract.ts';

export const labelTable = defineTable('labels', {
  contract: label,
  owner: 'workspace',
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: {},
  log: 'own',
  quotes: { none: 'people write its texts' },
});
