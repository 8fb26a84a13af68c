// Table of release pipelines.
import { defineTable } from '../../kernel/table/define.ts';
import { pipeline } from './contract.ts';

export const pipelineTable = defineTable('pipelines', {
  contract: pipeline,
  owner: 'workspace',
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: {},
  log: 'own',
  quotes: { none: 'people write its texts' },
});
