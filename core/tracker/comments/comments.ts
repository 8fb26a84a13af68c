// Adds, edits, deletes and resolves comments. A reply joins the thread of its parent; threads are one level deep.
import type { Static } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { listKind, notDeleted, type PageParameters } from '../../changes/list.ts';
import { created, getEntity, removed, updated } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { issueKind } from '../issues/schema.ts';
import { bodyBytesMax, commentKind, type Comment, type CommentCreate, type CommentUpdate } from './schema.ts';

export async function listComments(ctx: Context, issueId: string, page: PageParameters) {
  await getEntity(ctx, issueKind, issueId);
  return listKind(ctx, commentKind, page, {
    where: [notDeleted, { sql: 'issue_id = :issueId', params: { issueId } }],
  });
}

export async function getComment(ctx: Context, id: string) {
  return commentKind.wire(await findComment(ctx, id), ctx);
}

/** The comments of a deleted issue are as gone as the issue. @throws ApiError not_found */
async function findComment(ctx: Context, id: string): Promise<Comment> {
  const comment = await getEntity(ctx, commentKind, id);
  await getEntity(ctx, issueKind, comment.issueId);
  return comment;
}

function requireShort(body: string): void {
  if (Buffer.byteLength(body) > bodyBytesMax)
    throw invalidField('body', 'too_long', 'Give at most 64 KiB of text.');
}

export async function addComment(
  ctx: Context,
  issueId: string,
  input: Static<typeof CommentCreate>,
): Promise<ChangeSet> {
  const issue = await getEntity(ctx, issueKind, issueId);
  requireShort(input.body);
  const now = ctx.nowMs();
  const { actor } = ctx;
  const comment: Omit<Comment, 'version'> = {
    id: ctx.ids.next('comment'),
    issueId,
    issuePlace: `${issue.teamId} ${issue.number ?? ''}`,
    parentId: await threadOf(ctx, issueId, input.parentId ?? null),
    authorKind: actor.kind === 'plugin' || actor.kind === 'system' ? actor.kind : 'user',
    authorId: actor.memberId ?? actor.id,
    authorName: (actor.memberId && ctx.directory.members.get(actor.memberId)?.name) || actor.name,
    resolvedAt: null,
    resolvedBy: null,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    body: input.body,
  };
  return created(ctx, commentKind, comment, 'comments');
}

async function threadOf(ctx: Context, issueId: string, parentId: string | null): Promise<string | null> {
  if (parentId === null) return null;
  const parent = await commentKind.find(ctx, parentId);
  if (!parent || parent.deletedAt !== null || parent.issueId !== issueId)
    throw invalidField('parentId', 'not_found', `There is no comment ${parentId} on this issue.`);
  return parent.parentId ?? parent.id;
}

/** Only who wrote a comment may change its words. @throws ApiError forbidden */
export async function updateComment(
  ctx: Context,
  id: string,
  input: Static<typeof CommentUpdate>,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const comment = await findComment(ctx, id);
  requireShort(input.body);
  if (comment.authorId !== (ctx.actor.memberId ?? ctx.actor.id))
    throw new ApiError('forbidden', 'Only its author may change a comment.');
  return updated(ctx, commentKind, comment, input, ifMatch);
}

export async function deleteComment(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  return removed(ctx, commentKind, await findComment(ctx, id), ifMatch);
}

export function resolveComment(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  return setResolved(ctx, id, true, ifMatch);
}

export function unresolveComment(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  return setResolved(ctx, id, false, ifMatch);
}

async function setResolved(
  ctx: Context,
  id: string,
  resolved: boolean,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const comment = await findComment(ctx, id);
  if (comment.parentId !== null)
    throw new ApiError('conflict', `A thread is resolved at its first comment, ${comment.parentId}.`);
  const already = (comment.resolvedAt !== null) === resolved;
  const patch = resolved
    ? { resolvedAt: ctx.nowMs(), resolvedBy: ctx.actor.memberId ?? ctx.actor.id }
    : { resolvedAt: null, resolvedBy: null };
  return updated(ctx, commentKind, comment, already ? {} : patch, ifMatch);
}
