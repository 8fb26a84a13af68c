// Comments: threads on issues; a thread is resolved at its first comment.
import { Type, type Static } from 'typebox';
import type { Entity } from '../../changes/change.ts';
import { defineKind, type Field } from '../../changes/kind.ts';
import { isoTime } from '../../changes/operations.ts';
import { Closed, id, named, nullable, text, time, version } from '../../lib/schema.ts';
import { issueNumber } from '../issues/number.ts';

export const bodyBytesMax = 64 * 1024;
const body = text(bodyBytesMax, 'Markdown, up to 64 KiB.');

export const CommentShown = named(
  'Comment',
  Closed({
    id: id('comment'),
    issue: Closed({ id: id('issue'), identifier: nullable(Type.String()) }),
    parentId: nullable(id('comment')),
    body,
    author: Closed({ kind: Type.Enum(['user', 'plugin', 'system']), id: Type.String(), name: Type.String() }),
    resolvedAt: nullable(time),
    resolvedBy: nullable(Type.String()),
    version,
    createdAt: time,
    updatedAt: time,
  }),
);
export const CommentCreate = Closed({
  body,
  parentId: Type.Optional(nullable(id('comment', 'The first comment of the thread.'))),
});
export const CommentUpdate = Closed({ body });

export interface Comment extends Entity {
  readonly issueId: string;
  /** Team id and number of the issue, read along with the comment; the number is empty until committed. */
  readonly issuePlace: string;
  readonly parentId: string | null;
  readonly authorKind: 'user' | 'plugin' | 'system';
  readonly authorId: string;
  readonly authorName: string;
  readonly resolvedAt: number | null;
  readonly resolvedBy: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | null;
  readonly body: string;
}

const issuePlace: Field = {
  select:
    "(SELECT i.team_id || ' ' || i.number FROM issues AS i WHERE i.workspace_id = :ws AND i.id = comments.issue_id)",
};

export const commentKind = defineKind<Comment, Static<typeof CommentShown>>({
  name: 'comment',
  table: 'comments',
  fields: {
    issueId: 'issue_id',
    issuePlace,
    parentId: 'parent_id',
    authorKind: 'author_kind',
    authorId: 'author_id',
    authorName: 'author_name',
    resolvedAt: 'resolved_at',
    resolvedBy: 'resolved_by',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
    deletedAt: 'deleted_at',
    body: 'body',
  },
  subjectId: (comment) => comment.issueId,
  team: {
    of: (comment) => comment.issuePlace.split(' ')[0]!,
    isIn: (list) =>
      `EXISTS (SELECT 1 FROM issues AS i WHERE i.workspace_id = :ws AND i.id = comments.issue_id AND i.team_id IN (${list}))`,
  },
  learns: {
    what: issueNumber,
    of: (comment) => (comment.issuePlace.endsWith(' ') ? comment.issueId : null),
  },
  events(before, after) {
    if (!before) return ['comment.added'];
    if (after.deletedAt !== before.deletedAt) return ['comment.deleted'];
    if (after.resolvedAt !== before.resolvedAt)
      return [after.resolvedAt === null ? 'comment.unresolved' : 'comment.resolved'];
    return ['comment.updated'];
  },
  wire(comment, { directory }) {
    const [teamId = '', number = ''] = comment.issuePlace.split(' ');
    return {
      id: comment.id,
      issue: { id: comment.issueId, identifier: `${directory.teams.get(teamId)?.key ?? ''}-${number}` },
      parentId: comment.parentId,
      body: comment.body,
      author: { kind: comment.authorKind, id: comment.authorId, name: comment.authorName },
      resolvedAt: isoTime(comment.resolvedAt),
      resolvedBy: comment.resolvedBy,
      version: comment.version,
      createdAt: isoTime(comment.createdAt),
      updatedAt: isoTime(comment.updatedAt),
    };
  },
});
