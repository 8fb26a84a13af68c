// Attachments as a resource: plain operations for links, further routes for files.
import { getEntity, removed } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { issueModel } from '../issues/index.ts';
import { attachment } from './contract.ts';
import { fileRoutes } from './files.ts';
import { attachmentModel, withIssueEvents, attached } from './model.ts';
import { fileCheck } from './checks.ts';
import { urlRoute } from './urls.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { issueOfFact } from '../../kernel/checks.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { ana, sampleId, sampleIssue, timeAfter, type Samples } from '../../kernel/samples.ts';

const resource = defineResource(attachment, attachmentModel, {
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
  routes: [...fileRoutes, urlRoute],
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

const samples: Samples = ({ nowMs }) => {
  const at = timeAfter(nowMs, 0);
  const file: EntityResponse<typeof attachment> = {
    id: sampleId('att'),
    issue: sampleIssue,
    kind: 'file',
    title: 'crash.log',
    url: null,
    contentType: 'text/plain',
    bytes: 18_204,
    sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    creator: { kind: 'user', ...ana },
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  const moment = { now: { attachment: file } };
  return { moments: { 'issue.attachment_added': moment, 'issue.attachment_removed': moment } };
};

export const attachments = defineFeature({
  name: 'attachments',
  resources: [resource],
  samples,
  facts: { attachment: () => [issueOfFact()] },
  checks: [fileCheck],
});

export { signedFileRoute } from './urls.ts';
