// Table of views.
import { defineTable } from '../../kernel/table/define.ts';
import { view } from './contract.ts';

export const viewTable = defineTable('views', {
  contract: view,
  owner: 'workspace',
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: {},
  log: 'own',
  quotes: { none: 'people write its texts' },
});
