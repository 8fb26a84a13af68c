import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { actor, json, markdown, string, time } from '../../kernel/contract/field.ts';
import { member } from '../people/contract.ts';
import { idAndName, idOf } from '../../platform/lib/schema.ts';
import { issue, issueReference } from '../issues/contract.ts';

export const comment = defineContract({
  name: 'comment',
  path: 'comments',
  title: 'Comment',
  id: 'cmt',
  doc: 'Comment on an issue, or reply to a comment.',
  parent: issue,
  fields: {
    issue: json(issueReference, { write: 'never', computed: true, doc: 'Issue of the comment.' }),
    parentId: string(idOf('cmt', 'Id of the first comment of the thread; null for a first comment.'), {
      nullable: true,
      write: 'create',
    }),
    body: markdown({ bytesMax: 65_536, doc: 'Text of the comment.', required: true, html: true }),
    mentions: json(Type.Array(idAndName(idOf(member.id), 'the member')), {
      write: 'never',
      computed: true,
      doc: 'Members that the text mentions as `@name`.',
    }),
    author: actor({ doc: 'Author of the comment.' }),
    editedAt: time({
      nullable: true,
      write: 'never',
      doc: 'Time of the last change of the text; null if never changed.',
    }),
    resolvedAt: time({
      nullable: true,
      write: 'never',
      doc: 'Time at which the thread was resolved; null while it is open.',
    }),
    resolvedBy: actor({
      nullable: true,
      doc: 'Member or plugin that resolved the thread; null while it is open.',
    }),
  },
  undo: 'values',
  operations: {
    list: {
      summary: 'List the comments of an issue, oldest first',
      description:
        'A deleted first comment of a thread is listed with `deletedAt` and without its text while the thread has replies.',
    },
    create: 'Add a comment to an issue',
    get: {
      summary: 'Get a comment',
      description: 'A deleted first comment is returned without its text while its thread has replies.',
    },
    update: { summary: 'Change the text of your comment', errors: ['forbidden'] },
    delete: {
      summary: 'Delete a comment; it can be restored',
      description: 'Allowed for the author, admins and owners.',
      errors: ['forbidden'],
    },
    restore: {
      summary: 'Restore a deleted comment',
      description: 'Allowed for the author, admins and owners.',
      errors: ['forbidden'],
    },
  },
  events: {
    created: 'comment.added',
    updated: 'comment.updated',
    deleted: 'comment.deleted',
    restored: 'comment.restored',
    other: ['comment.resolved', 'comment.unresolved'],
  },
  retainsDeleted: true,
  ofTeam: true,
  calls: ['list', 'get', 'create', 'update', 'resolve'],
  examples: { create: { body: 'I can reproduce this on 1.4.' }, update: { body: 'Fixed in 1.5.' } },
});
