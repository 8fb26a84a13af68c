import { Type } from 'typebox';
import { schemasOf } from '../../contract/schemas.ts';
import { EventShown } from '../../events/schema.ts';
import { defineRoute } from '../../http/route.ts';
import { teamKey } from '../teams/contract.ts';
import { Closed, givenAs, idOf, pageOf, pageQuery } from '../../lib/schema.ts';
import { state } from '../workflows/contract.ts';
import { issueHistory } from './history.ts';
import { createIssue, createIssues, getIssue, listIssues } from './issues.ts';
import { IssueBulkCreate, IssueBulkCreated, IssueCreate, IssueCreated } from './bodies.ts';
import { issue } from './contract.ts';

const params = Closed({ id: idOf(issue.id) });
const shape = {
  fields: Type.Optional(
    Type.String({
      maxLength: 500,
      description:
        'Only these fields, comma-separated: the answer then leaves out the others, also those that it always has otherwise.',
      [givenAs]: 'fields',
    }),
  ),
  expand: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Whole objects in place of references: assignee, project, parent.',
      [givenAs]: 'list',
    }),
  ),
};
const listQuery = Closed({
  ...pageQuery,
  team: Type.Optional(teamKey),
  state: Type.Optional(Type.Unsafe<string>(state.fields.type.given)),
  assignee: Type.Optional(
    Type.String({ pattern: '^(usr_[0-9a-z]{26}|me|none)$', description: 'A member id, `me` or `none`.' }),
  ),
  label: Type.Optional(Type.String({ minLength: 1, maxLength: 80, description: 'A label name or id.' })),
  priority: Type.Optional(Type.Unsafe<string>(issue.fields.priority.given)),
  updatedSince: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601 time; inclusive.' })),
  filter: Type.Optional(
    Type.String({ maxLength: 8000, description: 'A JSON filter tree.', [givenAs]: 'json' }),
  ),
  sort: Type.Optional(
    Type.String({ maxLength: 100, description: 'Such as `-priority,updatedAt`; default `-createdAt`.' }),
  ),
  ...shape,
});

export const issueRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/issues',
    name: 'issues.list',
    summary: 'List issues, newest first',
    scope: 'issues:read',
    rows: 'team',
    limit: 'read',
    query: listQuery,
    responses: { 200: schemasOf(issue).page },
    errors: ['invalid_cursor'],
    read: (ctx, { query }) => listIssues(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/issues',
    name: 'issues.create',
    summary: 'Create an issue',
    scope: 'issues:write',
    rows: 'team',
    limit: 'write',
    body: IssueCreate,
    example: { team: 'ENG', title: 'Crash on save', priority: 'high' },
    responses: { 201: IssueCreated },
    write: (ctx, { body }) => createIssue(ctx, body),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/issues/bulk',
    name: 'issues.bulk',
    summary: 'Create up to 100 issues, all or nothing',
    description: 'Counts as one request.',
    scope: 'issues:write',
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
    bodyBytesMax: 4 * 1024 * 1024,
    write: (ctx, { body }) => createIssues(ctx, body.issues),
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
    query: Closed(shape),
    responses: { 200: schemasOf(issue).shown },
    read: (ctx, { params, query }) => getIssue(ctx, params.id, query),
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
