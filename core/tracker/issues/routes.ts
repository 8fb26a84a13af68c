import { Type } from 'typebox';
import { schemasOf } from '../../contract/schemas.ts';
import { EventShown } from '../../events/schema.ts';
import { defineRoute } from '../../http/route.ts';
import { withMoment } from '../../resource/as-of/reads.ts';
import { Closed, nameOf, pageOf, pageQuery } from '../../lib/schema.ts';
import { asOfQuery } from '../../resource/as-of/moment.ts';
import { issueHistory } from './history.ts';
import { createIssue, createIssues } from './creation.ts';
import { getIssueAt, listIssuesAt } from './as-of.ts';
import { getExternal, putExternal } from './external.ts';
import { getIssue, listIssues } from './issues.ts';
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
import { importing } from './imported.ts';
import { moveIssue } from './move.ts';
import { purgeIssue } from './purge.ts';
import { reorderIssue } from './sub-order.ts';
import { listQuery, shape } from './query.ts';

const params = Closed({ id: nameOf(issue) });

const externalPlace = {
  path: '/api/v1/issues/external/{source}/{externalId}',
  params: Closed({
    source: Type.String({
      minLength: 1,
      description: 'Its `externalSource`, percent-encoded: a slash is %2F.',
    }),
    externalId: Type.String({
      minLength: 1,
      description: 'Its `externalId`, percent-encoded: a slash is %2F.',
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
    summary: 'Change up to 500 issues in the same way, all or none',
    description:
      'Those that `ids` names, or all that pass `filter`. The answer says what of each changes; with `Tatami-Mode: simulate` it says so before it happens. Counts as one request.',
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
    description: 'Those that `ids` names, or all that pass `filter`. Counts as one request.',
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
    ...externalPlace,
    method: 'GET',
    name: 'issues.external.get',
    summary: 'Get an issue by the id that it has elsewhere',
    scope: 'issues:read',
    limit: 'read',
    responses: { 200: schemasOf(issue).shown },
    read: (ctx, { params }) => getExternal(ctx, params),
  }),
  defineRoute({
    ...externalPlace,
    method: 'PUT',
    name: 'issues.external.put',
    summary: 'Create or update an issue by the id that it has elsewhere',
    description:
      'Where no issue has that id one is made (201), else the fields that are given are changed (200) and the others stay as they are. Sent twice, it does nothing the second time.',
    scope: 'issues:write',
    limit: 'write',
    body: IssueUpsert,
    example: { team: 'ENG', title: 'Crash on save', priority: 'high' },
    responses: { 200: schemasOf(issue).shown, 201: schemasOf(issue).shown },
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
    responses: { 200: withMoment(issue).shown },
    read: (ctx, { params: { id }, query: { asOf, ...query } }) =>
      asOf === undefined ? getIssue(ctx, id, query) : getIssueAt(ctx, id, { ...query, asOf }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/issues/{id}/move',
    name: 'issues.move',
    summary: 'Move an issue to another team',
    description:
      'It gets an identifier of that team; the old one goes on finding it. Labels of the old team become what the other team or the workspace calls so, or go. Sub-issues stay where they are.',
    scope: 'issues:write',
    rows: 'team',
    writes: ['number', 'labels', 'snoozedUntil'],
    limit: 'write',
    params,
    body: IssueMove,
    example: { team: 'ENG' },
    responses: { 200: schemasOf(issue).shown },
    errors: ['transition_not_allowed'],
    write: (ctx, { params, body, ifMatch }) => moveIssue(ctx, params.id, body, ifMatch),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/issues/{id}/reorder',
    name: 'issues.reorder',
    summary: 'Put a sub-issue into another place among those of its parent',
    description:
      'Give one of `before`, `after` and `position`. `GET /issues?parent=ENG-1&sort=subOrder` lists them in their order.',
    scope: 'issues:write',
    rows: 'team',
    writes: ['subOrder'],
    limit: 'write',
    params,
    body: IssueReorder,
    example: { position: 'top' },
    responses: { 200: schemasOf(issue).shown },
    errors: ['conflict'],
    write: (ctx, { params, body, ifMatch }) => reorderIssue(ctx, params.id, body, ifMatch),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/issues/{id}/purge',
    name: 'issues.purge',
    summary: 'Remove a deleted issue for good, with its comments',
    description:
      'For owners and admins, with a key or a session; no app purges. An issue with sub-issues, also deleted ones, is not purged (409). Its external id is free afterwards, its number is not given again, and the event log keeps what it says of the issue.',
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
    summary: 'The events of an issue, oldest first',
    scope: 'issues:read',
    rows: 'team',
    limit: 'read',
    params,
    query: Closed(pageQuery),
    responses: { 200: pageOf(EventShown) },
    errors: ['invalid_cursor'],
    read: (ctx, { params, query }) => issueHistory(ctx, params.id, query),
  }),
];
