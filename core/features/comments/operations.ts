// Comments. A reply joins the thread of its parent; threads are one level deep and are resolved at their
// first comment. Mentions are extracted when the text is written. A deleted first comment stays in lists
// without its text while the thread has replies.
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { getEntity, updated } from '../../kernel/changes/operations.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import type { Context } from '../../kernel/context.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { callingMember, isAdmin } from '../people/index.ts';
import { ApiError, invalidField, notFound } from '../../platform/lib/errors/errors.ts';
import { Closed, idOf, pageOf, pageQuery, described, namedSchema, time } from '../../platform/lib/schema.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import type { Deleted } from '../../kernel/resource/archived.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { plainOperations, type Rules } from '../../kernel/resource/operations.ts';
import type { Condition } from '../../platform/store/page.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { issueModel, linkToIssue } from '../issues/index.ts';
import { commentIdsIn, commentIdsQuery } from './ids.ts';
import { mentionsIn } from './mentions.ts';
import { comment } from './contract.ts';
import { commentModel, type Comment } from './model.ts';
import { Type } from 'typebox';
import type { PageParameters } from '../../kernel/changes/list.ts';
import type { EventEnvelope } from '../../kernel/events/event.ts';
import { listEventsOf } from '../../kernel/events/feed/feed.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';

const params = Closed({ id: idOf(comment.id) });

const resolution = (verb: 'resolve' | 'unresolve', summary: string) =>
  defineRoute({
    method: 'POST',
    path: `/api/v1/comments/{id}/${verb}`,
    name: `comments.${verb}`,
    summary,
    scope: 'comments:write',
    rows: 'team',
    writes: ['resolvedAt'],
    limit: 'write',
    params,
    errors: ['conflict'],
    responses: { 200: schemasOf(comment).response },
    write: (ctx, { params, ifMatch }) => setResolved(ctx, params.id, verb === 'resolve', ifMatch),
  });

const CommentEdit = namedSchema(
  'CommentEdit',
  Closed({
    eventId: idOf(idPrefixes.event, 'Id of the event of the change.'),
    editedAt: described(time, 'Time of the change.'),
    editor: { ...comment.fields.author.response, description: 'Author of the change.' },
    body: Type.String({ description: 'Text before the change.' }),
  }),
);

/** Lists the oldest edits first. @throws ApiError invalid_cursor */
async function commentEdits(ctx: Context, { id, issueId, createdAt }: Comment, query: PageParameters) {
  const { data, pageInfo } = await listEventsOf(ctx, issueId, query, {
    name: id,
    sinceMs: createdAt,
    matches: ({ type, entityId }) => type === 'comment.updated' && entityId === id,
  });
  return { data: data.flatMap((event) => editIn(ctx, event)), pageInfo };
}

function editIn({ directory }: Context, { id, created_at, actor, data }: EventEnvelope) {
  const { body } = data.previous as { body?: string };
  if (body === undefined) return [];
  const { editorKind, editorId, editorName } = authorOf({ actor, directory }, 'editor');
  const editor = { kind: editorKind, id: editorId, name: editorName };
  return [{ eventId: id, editedAt: created_at, editor, body }];
}

const history = defineRoute({
  method: 'GET',
  path: '/api/v1/comments/{id}/history',
  name: 'comments.history',
  summary: 'List the earlier versions of a comment, oldest first',
  description: 'One entry per change of the text: author, time, and the text before the change.',
  scope: 'comments:read',
  rows: 'team',
  limit: 'read',
  params,
  query: Closed(pageQuery),
  responses: { 200: pageOf(CommentEdit) },
  errors: ['invalid_cursor'],
  read: async (ctx, { params, query }) => commentEdits(ctx, await findComment(ctx, params.id), query),
});

/** Returns a deleted comment as its thread shows it: with author and times, without content. */
const placeholderOf = (response: EntityResponse<typeof comment>): EntityResponse<typeof comment> => ({
  ...response,
  body: '',
  mentions: [],
});

const rules: Rules<typeof comment, Comment> = {
  placeholders: {
    response: placeholderOf,
    sql: `(parent_id IS NULL AND EXISTS (SELECT 1 FROM comments AS r
    WHERE r.workspace_id = :ws AND r.parent_id = comments.id AND r.parent_id IS NOT NULL AND r.deleted_at IS NULL))`,
  },
  async where(ctx, query, issueId) {
    const issue = await getEntity(ctx, issueModel, issueId ?? '');
    const ofIssue = { sql: 'issue_id = :issueId', params: { issueId: issue.id } };
    return [ofIssue, ...whereChosen(query), ...(await whereRestorable(ctx, query))];
  },
  async sets(ctx, { parentId = null, body }, issueId) {
    const issue = await getEntity(ctx, issueModel, issueId ?? '');
    return {
      ...linkToIssue(issue),
      parentId: await threadOf(ctx, issue.id, parentId),
      mentionIds: mentionsIn(body, ctx.directory),
      ...authorOf(ctx, 'author'),
    };
  },
  admits: (ctx, { issueId }) => getEntity(ctx, issueModel, issueId),
  follows: (ctx, { body }, before) =>
    body === undefined || body === before.body
      ? {}
      : { mentionIds: mentionsIn(body, ctx.directory), editedAt: ctx.nowMs() },
  check(ctx, after, before) {
    if (before && !isAuthor(ctx, after))
      throw new ApiError(
        'forbidden',
        'Only the author of a comment can change it. Add a comment of your own instead.',
      );
  },
};
const plain = plainOperations(comment, commentModel, rules);

const hasReplies = tenantStatement<{ present: number }>(
  'comments.has_replies',
  'SELECT 1 AS present FROM comments INDEXED BY comments_replies WHERE workspace_id = :ws AND parent_id = :id AND parent_id IS NOT NULL AND deleted_at IS NULL LIMIT 1',
);

/** Returns true for a deleted comment whose thread still has replies. */
async function isPlaceholder({ store, scope }: Context, { id, deletedAt }: Comment): Promise<boolean> {
  return deletedAt !== null && (await store.readOne(scope, hasReplies, { id })) !== undefined;
}

export const resource = defineResource(comment, commentModel, {
  ...rules,
  query: { ids: Type.Optional(commentIdsQuery) },
  operations: {
    async get(ctx, id) {
      const current = await commentModel.find(ctx, id);
      if (!current || (current.deletedAt !== null && !(await isPlaceholder(ctx, current)))) throw notFound();
      await getEntity(ctx, issueModel, current.issueId);
      const response = commentModel.toResponse(current, ctx);
      return current.deletedAt === null ? response : placeholderOf(response);
    },
    async delete(ctx, id, ifMatch) {
      await requireModerator(ctx, await findComment(ctx, id));
      return plain.delete(ctx, id, ifMatch);
    },
    async restore(ctx, id, ifMatch) {
      const current = await commentModel.find(ctx, id);
      if (!current) throw notFound();
      await getEntity(ctx, issueModel, current.issueId);
      await requireModerator(ctx, current);
      return plain.restore(ctx, id, ifMatch);
    },
  },
  routes: [
    resolution('resolve', 'Resolve the thread that a comment starts'),
    resolution('unresolve', 'Reopen a resolved thread'),
    history,
  ],
});

function isAuthor(ctx: Context, { authorId }: { readonly authorId: string }): boolean {
  return authorId === authorIdOf(ctx);
}

const authorIdOf = ({ actor }: Context): string => actor.memberId ?? actor.id;

function whereChosen({ ids }: Readonly<Record<string, unknown>>): Condition[] {
  if (typeof ids !== 'string') return [];
  const chosen = JSON.stringify(commentIdsIn(ids));
  return [{ sql: 'id IN (SELECT value FROM json_each(:chosen))', params: { chosen } }];
}

/** Deleted comments are listed only for members who may restore them. */
async function whereRestorable(
  ctx: Context,
  { deleted = 'exclude' }: { readonly deleted?: Deleted },
): Promise<Condition[]> {
  if (deleted === 'exclude' || isAdmin(await callingMember(ctx))) return [];
  return [{ sql: '(deleted_at IS NULL OR author_id = :authorId)', params: { authorId: authorIdOf(ctx) } }];
}

/** @throws ApiError forbidden */
async function requireModerator(ctx: Context, current: Comment): Promise<void> {
  if (isAuthor(ctx, current) || isAdmin(await callingMember(ctx))) return;
  throw new ApiError(
    'forbidden',
    'Only the author of a comment, an admin or an owner can delete or restore it. Ask one of them.',
  );
}

async function threadOf(ctx: Context, issueId: string, parentId: string | null): Promise<string | null> {
  if (parentId === null) return null;
  const parent = await commentModel.find(ctx, parentId);
  const isThere =
    parent?.issueId === issueId && (parent.deletedAt === null || (await isPlaceholder(ctx, parent)));
  if (!parent || !isThere)
    throw invalidField('parentId', 'not_found', {
      why: `There is no comment ${parentId} on this issue.`,
      fix: 'Use the id of a comment on the issue.',
    });
  return parent.parentId ?? parent.id;
}

/** Comments of a deleted issue count as deleted. @throws ApiError not_found */
export async function findComment(ctx: Context, id: string): Promise<Comment> {
  const current = await getEntity(ctx, commentModel, id);
  await getEntity(ctx, issueModel, current.issueId);
  return current;
}

async function setResolved(
  ctx: Context,
  id: string,
  resolved: boolean,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const current = await findComment(ctx, id);
  if (current.parentId !== null)
    throw new ApiError(
      'conflict',
      `Only the first comment of a thread can be resolved. Use ${current.parentId}.`,
    );
  const already = (current.resolvedAt !== null) === resolved;
  const patch = resolved
    ? { resolvedAt: ctx.nowMs(), ...authorOf(ctx, 'resolvedBy') }
    : { resolvedAt: null, resolvedByKind: null, resolvedById: null, resolvedByName: null };
  return updated(ctx, commentModel, current, already ? {} : patch, ifMatch);
}
