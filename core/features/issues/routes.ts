import { Type } from 'typebox';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import { EventResponse } from '../../kernel/events/feed/schema.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { withMoment } from '../../kernel/resource/as-of/list.ts';
import { Closed, nameOf, pageOf, pageQuery } from '../../platform/lib/schema.ts';
import { asOfQuery } from '../../kernel/resource/as-of/past.ts';
import { createIssue, createIssues, importing } from './creation.ts';
import { getIssueAt, listIssuesAt } from './query/as-of.ts';
import { getExternal, putExternal, getIssue, moveIssue, issueHistory, purgeIssue } from './operations.ts';
import { countIssues, countQuery, IssueCount } from './query/count.ts';
import { listIssues, listQuery, shape } from './query/list.ts';
import {
  IssueBulkCreate,
  IssueBulkChanged,
  IssueBulkCreated,
  IssueBulkUpdate,
  IssueCreate,
  IssueCreated,
  IssueMove,
  IssueReorder,
  IssueSelection,
  IssueUpsert,
} from './bodies.ts';
import { deleteIssues, updateIssues } from './bulk.ts';
import { issue } from './contract.ts';
import { reorderIssue } from './sub-issues.ts';

const params = Closed({ id: nameOf(issue) });

const externalRoute = {
  path: '/api/v1/issues/external/{source}/{externalId}',
  params: Closed({
    source: Type.String({
      minLength: 1,
      description: 'Value of `externalSource`, percent-encoded: a slash is %2F.',
    }),
    externalId: Type.String({
      minLength: 1,
      description: 'Value of `externalId`, percent-encoded: a slash is %2F.',
    }),
  }),
  rows: 'team',
} as const;

export const issueRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/issues',
    name: 'issues.list',
    summary: 'List issues, newest first',
    scope: 'issues:read',
    rows: 'team',
    limit: 'read',
    query: Closed({ ...listQuery.properties, ...asOfQuery }),
    responses: { 200: withMoment(issue).page },
    errors: ['invalid_cursor', 'budget_exceeded'],
    read: (ctx, { query: { asOf, ...query } }) =>
      asOf === undefined ? listIssues(ctx, query) : listIssuesAt(ctx, { ...query, asOf }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/issues/count',
    name: 'issues.count',
    summary: 'Count issues, in total and by group',
    description: 'Takes the filters of the list.',
    scope: 'issues:read',
    rows: 'team',
    limit: 'read',
    query: countQuery,
    responses: { 200: IssueCount },
    errors: ['budget_exceeded'],
    read: (ctx, { query }) => countIssues(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/issues',
    name: 'issues.create',
    summary: 'Create an issue',
    scope: 'issues:write',
    also: importing,
    rows: 'team',
    limit: 'write',
    body: IssueCreate,
    example: { team: 'ENG', title: 'Crash on save', priority: 'high' },
    responses: { 201: IssueCreated },
    errors: ['conflict'],
    write: (ctx, { body }) => createIssue(ctx, body),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/issues/bulk',
    name: 'issues.bulk',
    summary: 'Create up to 100 issues, all or nothing',
    description: 'Counts as one request.',
    scope: 'issues:write',
    also: importing,
    rows: 'team',
    limit: 'write',
    body: IssueBulkCreate,
    example: {
      issues: [
        { team: 'ENG', title: 'First' },
        { team: 'ENG', title: 'Second' },
      ],
    },
    responses: { 201: IssueBulkCreated },
    errors: ['conflict'],
    bodyBytesMax: 4 * 1024 * 1024,
    write: (ctx, { body }) => createIssues(ctx, body.issues),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/issues/bulk-update',
    name: 'issues.bulk-update',
    summary: 'Make the same change to up to 500 issues, all or none',
    description:
      'Selects the issues in `ids`, or all that match `filter`. Returns the changes of each issue; with `Tatami-Mode: simulate` nothing is written. Counts as one request.',
    scope: 'issues:write',
    rows: 'team',
    limit: 'write',
    body: IssueBulkUpdate,
    example: { ids: ['ENG-1', 'ENG-2'], set: { priority: 'high', addLabels: ['bug'] } },
    responses: { 200: IssueBulkChanged },
    errors: ['transition_not_allowed', 'budget_exceeded'],
    write: (ctx, { body }) => updateIssues(ctx, body),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/issues/bulk-delete',
    name: 'issues.bulk-delete',
    summary: 'Delete up to 500 issues, all or none; they can be restored',
    description: 'Selects the issues in `ids`, or all that match `filter`. Counts as one request.',
    scope: 'issues:write',
    rows: 'team',
    writes: ['deletedAt'],
    limit: 'write',
    body: IssueSelection,
    example: { ids: ['ENG-1', 'ENG-2'] },
    responses: { 200: IssueBulkChanged },
    errors: ['budget_exceeded'],
    write: (ctx, { body }) => deleteIssues(ctx, body),
  }),
  defineRoute({
    ...externalRoute,
    method: 'GET',
    name: 'issues.external.get',
    summary: 'Get an issue by its external id',
    scope: 'issues:read',
    limit: 'read',
    responses: { 200: schemasOf(issue).response },
    read: (ctx, { params }) => getExternal(ctx, params),
  }),
  defineRoute({
    ...externalRoute,
    method: 'PUT',
    name: 'issues.external.put',
    summary: 'Create or update an issue by its external id',
    description:
      'Creates the issue if none has this external id (201); otherwise changes the given fields and leaves the others unchanged (200). A repeated request changes nothing.',
    scope: 'issues:write',
    limit: 'write',
    body: IssueUpsert,
    example: { team: 'ENG', title: 'Crash on save', priority: 'high' },
    responses: { 200: schemasOf(issue).response, 201: schemasOf(issue).response },
    errors: ['conflict', 'transition_not_allowed'],
    write: (ctx, { params, body, ifMatch }) => putExternal(ctx, params, body, ifMatch),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/issues/{id}',
    name: 'issues.get',
    summary: 'Get an issue',
    scope: 'issues:read',
    rows: 'team',
    limit: 'read',
    params,
    query: Closed({ ...shape, ...asOfQuery }),
    responses: { 200: withMoment(issue).response },
    read: (ctx, { params: { id }, query: { asOf, ...query } }) =>
      asOf === undefined ? getIssue(ctx, id, query) : getIssueAt(ctx, id, { ...query, asOf }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/issues/{id}/move',
    name: 'issues.move',
    summary: 'Move an issue to another team',
    description:
      'The issue gets an identifier of the new team; the old identifier keeps resolving. Labels of the old team are replaced by labels of the same name in the new team or the workspace, or removed. Sub-issues stay in their team.',
    scope: 'issues:write',
    rows: 'team',
    writes: ['number', 'labels', 'snoozedUntil'],
    limit: 'write',
    params,
    body: IssueMove,
    example: { team: 'ENG' },
    responses: { 200: schemasOf(issue).response },
    errors: ['transition_not_allowed'],
    write: (ctx, { params, body, ifMatch }) => moveIssue(ctx, params.id, body, ifMatch),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/issues/{id}/reorder',
    name: 'issues.reorder',
    summary: 'Move a sub-issue among the sub-issues of its parent',
    description:
      'Give one of `before`, `after` and `position`. `GET /issues?parent=ENG-1&sort=subOrder` lists the sub-issues in order.',
    scope: 'issues:write',
    rows: 'team',
    writes: ['subOrder'],
    limit: 'write',
    params,
    body: IssueReorder,
    example: { position: 'top' },
    responses: { 200: schemasOf(issue).response },
    errors: ['conflict'],
    write: (ctx, { params, body, ifMatch }) => reorderIssue(ctx, params.id, body, ifMatch),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/issues/{id}/purge',
    name: 'issues.purge',
    summary: 'Purge a deleted issue permanently, with its comments',
    description:
      'Allowed for owners and admins, with a key or a session; apps cannot purge. An issue with sub-issues, even deleted ones, is refused (409). Its external id becomes free, its number is not reused, and the event log keeps its events.',
    scope: 'issues:write',
    rows: 'team',
    writes: ['deletedAt'],
    limit: 'write',
    params,
    responses: { 204: null },
    errors: ['forbidden', 'conflict'],
    write: (ctx, { params, ifMatch }) => purgeIssue(ctx, params.id, ifMatch),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/issues/{id}/history',
    name: 'issues.history',
    summary: 'List the events of an issue, oldest first',
    scope: 'issues:read',
    rows: 'team',
    limit: 'read',
    params,
    query: Closed(pageQuery),
    responses: { 200: pageOf(EventResponse) },
    errors: ['invalid_cursor'],
    read: (ctx, { params, query }) => issueHistory(ctx, params.id, query),
  }),
];
