// Table of reactions.
import { comment } from '../comments/contract.ts';
import { defineTable } from '../../kernel/table/define.ts';
import { id } from '../../kernel/table/formats.ts';
import { issue } from '../issues/contract.ts';
import { reaction } from './contract.ts';

export const reactionTable = defineTable('reactions', {
  contract: reaction,
  owner: {
    issues: 'issue_id',
    // The subject is a comment or the issue itself.
    comments: { by: 'subject_id', index: 'reactions_one', where: 'deleted_at IS NULL' },
  },
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: { formats: { subject_id: id(issue.id, comment.id) } },
  log: 'own',
  quotes: { none: 'ids and emoji' },
});
