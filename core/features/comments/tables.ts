// Table of comments.
import { Type } from 'typebox';
import { comment } from './contract.ts';
import { defineTable } from '../../kernel/table/define.ts';
import { idOf } from '../../platform/lib/schema.ts';
import { json } from '../../kernel/table/formats.ts';
import { member } from '../people/contract.ts';

export const commentTable = defineTable('comments', {
  contract: comment,
  owner: { issues: 'issue_id' },
  retains: { comments: 'parent_id' },
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: { formats: { mention_ids_json: json(Type.Array(idOf(member.id))) } },
  log: 'own',
  quotes: { none: 'people write its texts' },
});
