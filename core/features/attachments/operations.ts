// Attachments as a resource: plain operations for links, two extra routes for files.
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { created, getEntity, removed } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { issueModel, type Issue } from '../issues/index.ts';
import { attachment } from './contract.ts';
import { fileRoutes } from './files.ts';
import { attachmentModel, withIssueEvents } from './model.ts';

export const resource = defineResource(attachment, attachmentModel, {
  async where(ctx, _query, issueId) {
    const issue = await getEntity(ctx, issueModel, issueId ?? '');
    return [{ sql: 'issue_id = :issueId', params: { issueId: issue.id } }];
  },
  sets: () => ({}),
  admits: (ctx, { issueId }) => getEntity(ctx, issueModel, issueId),
  operations: {
    async create(ctx, { title, url }, issueId) {
      const issue = await getEntity(ctx, issueModel, issueId ?? '');
      if (url === null || !URL.canParse(url))
        throw invalidField('url', url === null ? 'required' : 'invalid_format', 'Give the URL of the link.');
      return attached(ctx, issue, { kind: 'link', title, url, contentType: null, bytes: null, sha256: null });
    },
    async delete(ctx, id, ifMatch) {
      const current = await getEntity(ctx, attachmentModel, id);
      const issue = await getEntity(ctx, issueModel, current.issueId);
      requireOwnOfGuest(ctx, current);
      const set = removed(ctx, attachmentModel, current, ifMatch);
      return { ...set, changes: set.changes.map((change) => withIssueEvents(issue, change)) };
    },
  },
  routes: fileRoutes(attached),
});

/**
 * Guests can delete only their own attachments, because a deleted file cannot be restored.
 * @throws ApiError forbidden
 */
function requireOwnOfGuest(
  { actor, visibleTeams }: Context,
  { creatorId }: { readonly creatorId: string },
): void {
  const isGuest = visibleTeams !== null && actor.kind !== 'plugin';
  if (isGuest && creatorId !== (actor.memberId ?? actor.id))
    throw new ApiError(
      'forbidden',
      'Guests can delete only their own attachments. Ask a member to delete this one.',
    );
}

/** Fields in which links and files differ. */
export type Attaching = Pick<
  Parameters<typeof attachmentModel.create>[0],
  'kind' | 'title' | 'url' | 'contentType' | 'bytes' | 'sha256'
>;

function attached(ctx: Context, issue: Issue, what: Attaching): ChangeSet {
  const now = ctx.nowMs();
  const set = created(
    ctx,
    attachmentModel,
    {
      id: ctx.ids.next(attachment.id),
      issueId: issue.id,
      issuePlace: `${issue.teamId} ${issue.number ?? ''}`,
      ...what,
      ...authorOf(ctx, 'creator'),
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    },
    attachment.path,
  );
  return { ...set, changes: set.changes.map((change) => withIssueEvents(issue, change)) };
}
