// Table of project updates.
import { defineTable } from '../../kernel/table/define.ts';
import { projectUpdate } from './contract.ts';

export const projectUpdateTable = defineTable('project_updates', {
  contract: projectUpdate,
  owner: { projects: 'project_id' },
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: {},
  log: 'own',
  quotes: { none: 'people write its texts' },
});
