// Table of relations between issues.
import { defineTable } from '../../kernel/table/define.ts';
import { relation } from './contract.ts';

const partly = 'the events of the issues show it in part';

export const relationTable = defineTable('relations', {
  contract: relation,
  owner: { issues: ['from_id', 'issue_id'] },
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: {},
  log: 'issue',
  quotes: { none: 'ids and times' },
  unlogged: {
    creator_kind: partly,
    creator_id: partly,
    creator_name: partly,
    version: partly,
    created_at: partly,
    updated_at: partly,
  },
});
