import { schemasOf } from '../../kernel/contract/schemas.ts';
import { defineRoute, type AlsoNeeded } from '../../kernel/http/route.ts';
import { Closed, nameOf } from '../../platform/lib/schema.ts';
import { IssueUpdate } from '../issues/index.ts';
import { issue } from '../issues/contract.ts';
import { acceptIssue, declineIssue, snoozeIssue, TriageDecline, TriageSnooze } from './operations.ts';

const saying: AlsoNeeded = {
  words: '`comments:write` to give a reason',
  scopes: async (_, { body }) => ('reason' in (body as object) ? ['comments:write'] : []),
};

const facts = {
  method: 'POST',
  scope: 'issues:write',
  rows: 'team',
  limit: 'write',
  params: Closed({ id: nameOf(issue) }),
  responses: { 200: schemasOf(issue).response },
} as const;

export const triageRoutes = [
  defineRoute({
    ...facts,
    path: '/api/v1/issues/{id}/triage/accept',
    name: 'issues.triage.accept',
    summary: 'Accept an issue that is in triage',
    description:
      'The issue moves to `stateId`, or to the backlog of its team. The body may contain any fields of an update, applied in the same change.',
    body: IssueUpdate,
    example: { priority: 'high' },
    writes: ['stateId', 'snoozedUntil'],
    errors: ['conflict', 'transition_not_allowed'],
    write: (ctx, { params, body, ifMatch }) => acceptIssue(ctx, params.id, body, ifMatch),
  }),
  defineRoute({
    ...facts,
    path: '/api/v1/issues/{id}/triage/decline',
    name: 'issues.triage.decline',
    summary: 'Decline an issue that is in triage, which cancels it',
    body: TriageDecline,
    example: { reason: 'This is the intended behavior.' },
    writes: ['stateId', 'snoozedUntil'],
    also: saying,
    errors: ['conflict', 'transition_not_allowed'],
    write: (ctx, { params, body, ifMatch }) => declineIssue(ctx, params.id, body, ifMatch),
  }),
  defineRoute({
    ...facts,
    path: '/api/v1/issues/{id}/triage/snooze',
    name: 'issues.triage.snooze',
    summary: 'Snooze an issue that is in triage',
    description:
      'The issue stays in triage. At the given time `snoozedUntil` becomes null again, with an `issue.updated` event.',
    body: TriageSnooze,
    example: { until: '2027-01-11T09:00:00Z' },
    writes: ['snoozedUntil'],
    errors: ['conflict'],
    write: (ctx, { params, body, ifMatch }) => snoozeIssue(ctx, params.id, body, ifMatch),
  }),
];
