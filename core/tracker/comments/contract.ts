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
    list: 'List the comments of an issue, oldest first',
    create: 'Add a comment to an issue',
    get: 'Get a comment',
    update: { summary: "Change the text of a comment of one's own", errors: ['forbidden'] },
    delete: 'Delete a comment',
  },
  events: {
    created: 'comment.added',
    updated: 'comment.updated',
    deleted: 'comment.deleted',
    other: ['comment.resolved', 'comment.unresolved'],
  },
  keepsDeleted: true,
  ofTeam: true,
  calls: ['list', 'get', 'create', 'update', 'resolve'],
  examples: { create: { body: 'I can reproduce this on 1.4.' }, update: { body: 'Fixed in 1.5.' } },
});
