// Reactions: an emoji that somebody puts to a comment or an issue, once each.
import { defineContract } from '../../contract/contract.ts';
import { actor, json, string } from '../../contract/field.ts';
import { idOf, text } from '../../lib/schema.ts';
import { issueNamed } from '../issues/contract.ts';

export const emojiBytesMax = 32;

export const reaction = defineContract({
  name: 'reaction',
  path: 'reactions',
  scope: 'comments',
  title: 'Reaction',
  id: 'rct',
  doc: 'An emoji that somebody put to a comment or an issue.',
  fields: {
    issue: json(issueNamed, {
      write: 'never',
      computed: true,
      doc: 'The issue that it is on, or its comment is.',
    }),
    commentId: string(idOf('cmt', 'The comment that it is on.'), {
      nullable: true,
      write: 'never',
      computed: true,
      doc: 'Null on the issue itself.',
    }),
    emoji: string(text(emojiBytesMax, 'One emoji, or the name of a usual one such as `thumbsup`.'), {
      required: true,
      write: 'create',
      filter: true,
      doc: 'What it says.',
    }),
    actor: actor({ doc: 'Who reacted.' }),
  },
  undo: 'values',
  operations: {
    get: 'Get a reaction',
    delete: {
      summary: 'Take a reaction of one’s own back',
      description: 'What is taken back already is taken back again without an error.',
      errors: ['forbidden'],
    },
  },
  events: { created: 'reaction.added', deleted: 'reaction.removed' },
  keepsDeleted: true,
  ofTeam: true,
  calls: ['list', 'create', 'list-on-issue', 'create-on-issue', 'delete'],
  examples: { create: { emoji: '👍' } },
});
