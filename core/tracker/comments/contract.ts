// Comments: threads on issues; a thread is resolved at its first comment.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { actor, json, markdown, string, time } from '../../contract/field.ts';
import { member } from '../../identity/members/contract.ts';
import { idAndName, idOf } from '../../lib/schema.ts';
import { issue, issueNamed } from '../issues/contract.ts';

export const comment = defineContract({
  name: 'comment',
  path: 'comments',
  title: 'Comment',
  id: 'cmt',
  doc: 'What somebody says about an issue.',
  parent: issue,
  fields: {
    issue: json(issueNamed, { write: 'never', computed: true, doc: 'The issue that it is about.' }),
    parentId: string(idOf('cmt', 'The first comment of the thread.'), { nullable: true, write: 'create' }),
    body: markdown({ bytesMax: 65_536, doc: 'What is said.', required: true, html: true }),
    mentions: json(Type.Array(idAndName(idOf(member.id), 'the member')), {
      write: 'never',
      computed: true,
      doc: 'The members whom its text names as `@name`.',
    }),
    author: actor({ doc: 'Who said it.' }),
    editedAt: time({
      nullable: true,
      write: 'never',
      doc: 'When its text was last changed; null where it never was.',
    }),
    resolvedAt: time({
      nullable: true,
      write: 'never',
      doc: 'When its thread was resolved; null while it is open.',
    }),
    resolvedBy: actor({ nullable: true, doc: 'Who resolved its thread; null while it is open.' }),
  },
  undo: 'values',
  operations: {
    list: {
      summary: 'List the comments of an issue, oldest first',
      description:
        'A deleted first comment of a thread is listed without its text, with `deletedAt`, as long as the thread has replies.',
    },
    create: 'Add a comment to an issue',
    get: {
      summary: 'Get a comment',
      description: 'A deleted first comment is shown without its text as long as its thread has replies.',
    },
    update: { summary: "Change the text of a comment of one's own", errors: ['forbidden'] },
    delete: {
      summary: 'Delete a comment; it can be restored',
      description: 'For its author, and for admins and owners.',
      errors: ['forbidden'],
    },
    restore: {
      summary: 'Restore a deleted comment',
      description: 'For its author, and for admins and owners.',
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
  keepsDeleted: true,
  ofTeam: true,
  calls: ['list', 'get', 'create', 'update', 'resolve'],
  examples: { create: { body: 'I can reproduce this on 1.4.' }, update: { body: 'Fixed in 1.5.' } },
});
