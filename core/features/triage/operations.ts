// Triage: new issues are accepted, declined or snoozed. Changing the state of an issue in triage also accepts
// or declines it.
import { Type, type Static } from 'typebox';
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { getEntity, requireVersion, updated } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { Closed, namedSchema, nullable, text } from '../../platform/lib/schema.ts';
import { readTime } from '../../platform/lib/time/time.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import { commentModel, mentionsIn } from '../comments/index.ts';
import { comment } from '../comments/contract.ts';
import { firstState, statesOf } from '../workflows/index.ts';
import {
  type IssuePatch,
  issueModel,
  type Issue,
  type IssueResponse,
  resolvePatch,
} from '../issues/index.ts';
import { snoozeTimerName } from '../issues/contract.ts';
import type { DueTimer } from '../../kernel/event-reactions/due-timers.ts';
import { putOff } from '../teams/index.ts';
import { team } from '../teams/contract.ts';

export const TriageDecline = namedSchema(
  'TriageDecline',
  Closed({
    reason: Type.Optional(
      text(
        65_536,
        'Reason for declining, added as a comment on the issue. Requires the scope `comments:write`.',
      ),
    ),
  }),
);
export const TriageSnooze = namedSchema(
  'TriageSnooze',
  Closed({
    until: nullable(
      Type.String({ maxLength: 40, description: 'A future ISO 8601 time; null ends the snooze now.' }),
    ),
  }),
);

/** @throws ApiError not_found, conflict, validation_failed, transition_not_allowed */
export async function acceptIssue(
  ctx: Context,
  id: string,
  input: IssuePatch,
  ifMatch: number | null,
): Promise<ChangeSet<IssueResponse>> {
  const issue = await getEntity(ctx, issueModel, id);
  requireVersion(issue, ifMatch);
  const stateId = input.stateId ?? firstState(ctx.directory, issue.teamId).id;
  const patch = await resolvePatch(ctx, issue.teamId, issue, { ...input, stateId }, '');
  requireTriage(ctx, issue);
  if (ctx.directory.states.get(patch.stateId ?? issue.stateId)?.type === 'triage')
    throw invalidField('stateId', 'conflict', {
      why: 'The issue would stay in triage.',
      fix: 'Use a state of another type.',
    });
  return updated(ctx, issueModel, issue, patch, ifMatch);
}

/** @throws ApiError not_found, conflict, transition_not_allowed */
export async function declineIssue(
  ctx: Context,
  id: string,
  { reason }: Static<typeof TriageDecline>,
  ifMatch: number | null,
): Promise<ChangeSet<IssueResponse>> {
  const issue = await triagedIssue(ctx, id, ifMatch);
  const state = statesOf(ctx.directory, issue.teamId).find(({ type }) => type === 'canceled');
  if (!state)
    throw new ApiError(
      'conflict',
      'The team has no state of type canceled. Add one first, with POST /workflows.',
    );
  const patch = await resolvePatch(ctx, issue.teamId, issue, { stateId: state.id }, '');
  const set = updated(ctx, issueModel, issue, patch, ifMatch);
  return reason === undefined ? set : { ...set, changes: [...set.changes, said(ctx, issue, reason)] };
}

/** @throws ApiError not_found, conflict, validation_failed */
export async function snoozeIssue(
  ctx: Context,
  id: string,
  { until }: Static<typeof TriageSnooze>,
  ifMatch: number | null,
): Promise<ChangeSet<IssueResponse>> {
  const issue = await triagedIssue(ctx, id, ifMatch);
  const snoozedUntil = until === null ? null : readTime(until, 'until');
  if (snoozedUntil !== null && snoozedUntil <= ctx.nowMs())
    throw invalidField('until', 'too_small', 'Give a time in the future.');
  return updated(ctx, issueModel, issue, { snoozedUntil }, ifMatch);
}

async function triagedIssue(ctx: Context, id: string, ifMatch: number | null): Promise<Issue> {
  const issue = await getEntity(ctx, issueModel, id);
  requireVersion(issue, ifMatch);
  requireTriage(ctx, issue);
  return issue;
}

/** @throws ApiError conflict */
function requireTriage({ directory }: Context, { stateId }: Issue): void {
  if (directory.states.get(stateId)?.type !== 'triage')
    throw new ApiError(
      'conflict',
      'The issue is not in triage. Move it there first, or change it with PATCH.',
    );
}

function said(ctx: Context, issue: Issue, body: string) {
  const now = ctx.nowMs();
  return commentModel.create({
    id: ctx.ids.next(comment.id),
    issueId: issue.id,
    issuePlace: `${issue.teamId} ${issue.number ?? ''}`,
    parentId: null,
    body,
    mentionIds: mentionsIn(body, ctx.directory),
    editedAt: null,
    ...authorOf(ctx, 'author'),
    resolvedAt: null,
    resolvedByKind: null,
    resolvedById: null,
    resolvedByName: null,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  });
}

/** Ends the snooze of an issue in triage. */
export const snooze: DueTimer = {
  name: snoozeTimerName,
  isSetBy: ({ kind, after }) =>
    kind === team.name || (kind === issueModel.name && (after as Issue).snoozedUntil !== null),
  async fire(ctx, id) {
    const issue = await issueModel.find(ctx, id);
    const isDue =
      issue?.snoozedUntil != null && issue.deletedAt === null && issue.snoozedUntil <= ctx.nowMs();
    const waits = isDue && putOff(ctx, issue.teamId, { name: snoozeTimerName, id });
    if (waits) return waits;
    const change = isDue ? issueModel.update(issue, { snoozedUntil: null }, ctx.nowMs()) : null;
    return { changes: change ? [change] : [] };
  },
};
