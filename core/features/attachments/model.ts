// Storage, representation and events of attachments. The events belong to the issue, so that the subscribers
// of the issue receive them.
import { asLeft, type Change, type ChangeSet } from '../../kernel/changes/change.ts';
import type { EntityModel } from '../../kernel/changes/model.ts';
import { plain, type Column, created } from '../../kernel/changes/operations.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import type { EventType } from '../../kernel/events/catalogue.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { activityOp, issueModel, linkToIssue, shownOps, type Issue } from '../issues/index.ts';
import { attachment } from './contract.ts';
import type { Context } from '../../kernel/context.ts';
import { authorOf } from '../../kernel/resource/input.ts';

/** Team id and number of the issue, separated by a space; the number is empty until the commit assigns it. */
const issuePlace: Column<string> = {
  select:
    "(SELECT i.team_id || ' ' || coalesce(i.number, '') FROM issues AS i WHERE i.workspace_id = :ws AND i.id = attachments.issue_id)",
};
const storedFields = { issueId: plain<string>('issue_id'), issuePlace };
type Attachment = EntityOf<typeof attachment, typeof storedFields>;

const added: EventType = 'issue.attachment_added';
const removed: EventType = 'issue.attachment_removed';

export const attachmentModel: EntityModel<Attachment, EntityResponse<typeof attachment>> = modelOf(
  attachment,
  {
    stored: storedFields,
    shows: {
      issue({ issueId, issuePlace }, { directory }) {
        const [teamId = '', number = ''] = issuePlace.split(' ');
        const key = directory.teams.get(teamId)?.key ?? '';
        return { id: issueId, identifier: number === '' ? null : `${key}-${number}` };
      },
    },
    events: (before, { deletedAt }) => [before && deletedAt !== null ? removed : added],
    subjectId: ({ issueId }) => issueId,
    related: (scope, _before, { issueId, updatedAt }) => ({
      last: [activityOp(scope, issueId, updatedAt)],
    }),
    async comesBack(ctx, deleted) {
      if (deleted.kind !== 'link')
        throw new ApiError(
          'not_found',
          'A deleted file cannot be restored, because its content is deleted as well. Upload it again.',
        );
      const issue = await issueModel.find(ctx, deleted.issueId);
      if (!issue) throw new ApiError('not_found', 'The issue was deleted. Restore the issue first.');
      return withIssueEvents(issue, attachmentModel.update(deleted, { deletedAt: null }, ctx.nowMs())!);
    },
    team: {
      of: ({ issuePlace }) => issuePlace.split(' ')[0]!,
      isIn: (list) =>
        `EXISTS (SELECT 1 FROM issues AS i WHERE i.workspace_id = :ws AND i.id = attachments.issue_id AND i.team_id IN (${list}))`,
    },
  },
);

/**
 * Replaces the events of a change with events of the issue, whose data contains the issue and the attachment.
 */
export function withIssueEvents(issue: Issue, change: Change & { readonly after: object }): Change {
  return {
    ...change,
    ops: (scope, view) => [...shownOps(scope, view, issue), ...change.ops(scope, view)],
    events(view) {
      const at = (change.after as Attachment).updatedAt;
      const left = asLeft(view, issueModel.name, issue);
      const response = issueModel.toResponse({ ...left, updatedAt: Math.max(left.updatedAt, at) }, view);
      const data = { ...response, attachment: attachmentModel.toResponse(change.after as Attachment, view) };
      return change.events(view).map(({ type }) => issueModel.eventOf(type, left, data));
    },
    followedBy: (later) => withIssueEvents(issue, change.followedBy(later)),
  };
}

/** Fields in which links and files differ. */
interface Content {
  readonly kind: Attachment['kind'];
  readonly title: string;
  readonly url: string | null;
  readonly contentType: string | null;
  readonly bytes: number | null;
  readonly sha256: string | null;
}

export function attached(ctx: Context, issue: Issue, content: Content): ChangeSet {
  const now = ctx.nowMs();
  const set = created(
    ctx,
    attachmentModel,
    {
      id: ctx.ids.next(attachment.id),
      ...linkToIssue(issue),
      ...content,
      ...authorOf(ctx, 'creator'),
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    },
    attachment.path,
  );
  return { ...set, changes: set.changes.map((change) => withIssueEvents(issue, change)) };
}
