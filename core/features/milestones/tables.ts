// Table of milestones.
import { defineTable } from '../../kernel/table/define.ts';
import { milestone } from './contract.ts';

export const milestoneTable = defineTable('milestones', {
  contract: milestone,
  owner: { projects: 'project_id' },
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: {},
  log: 'own',
  quotes: { none: 'people write its texts' },
});
