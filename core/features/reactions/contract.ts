import { defineContract } from '../../kernel/contract/contract.ts';
import { actor, json, string } from '../../kernel/contract/field.ts';
import { idOf, text } from '../../platform/lib/schema.ts';
import { issueReference } from '../issues/contract.ts';

export const emojiBytesMax = 32;

export const reaction = defineContract({
  name: 'reaction',
  path: 'reactions',
  scope: 'comments',
  title: 'Reaction',
  id: 'rct',
  doc: 'Emoji reaction to a comment or an issue.',
  fields: {
    issue: json(issueReference, {
      write: 'never',
      computed: true,
      doc: 'Issue of the reaction, or of its comment.',
    }),
    commentId: string(idOf('cmt'), {
      nullable: true,
      write: 'never',
      computed: true,
      doc: 'Id of the comment; null for a reaction to the issue.',
    }),
    emoji: string(text(emojiBytesMax, 'One emoji, or the name of a common one such as `thumbsup`.'), {
      required: true,
      write: 'create',
      filter: true,
      doc: 'Emoji of the reaction.',
    }),
    actor: actor({ doc: 'Author of the reaction.' }),
  },
  undo: 'values',
  operations: {
    get: 'Get a reaction',
    delete: {
      summary: 'Remove your reaction',
      description: 'Removing a reaction that was already removed has no effect.',
      errors: ['forbidden'],
    },
  },
  events: { created: 'reaction.added', deleted: 'reaction.removed' },
  retainsDeleted: true,
  ofTeam: true,
  calls: ['list', 'create', 'list-on-issue', 'create-on-issue', 'delete'],
  examples: { create: { emoji: '👍' } },
});
