import { Type } from 'typebox';
import { Closed, enumeration, nameOf, pageQuery } from '../../platform/lib/schema.ts';
import { issue } from '../issues/contract.ts';
import { issueFilters } from '../issues/index.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { depthMax, searchIssues } from './find.ts';
import { similarIssues } from './similar.ts';
import { IssueTitles, SearchPage, SimilarIssues } from './bodies.ts';
import { issueTitles } from './titles.ts';

export const searchRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/search',
    name: 'search.query',
    summary: 'Search issues by text, best match first',
    description: `Searches titles and descriptions and, with \`comments:read\`, comments. All words must occur in the issue itself or in one of its comments. An issue whose identifier or number matches comes first. Pages end after ${depthMax} issues.`,
    scope: 'issues:read',
    rows: 'team',
    limit: 'search',
    query: Closed({
      q: Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          'Search words; case and accents are ignored. Supports `"a phrase"`, `prefix*` and `-excluded`. The last word may be a prefix.',
      }),
      ...pageQuery,
      ...issueFilters,
    }),
    responses: { 200: SearchPage },
    errors: ['invalid_cursor', 'budget_exceeded'],
    read: (ctx, { query }) => searchIssues(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/issues/titles',
    name: 'issues.titles',
    summary: 'Find issues by identifier or by the beginnings of words in the title',
    description:
      'The issue with the identifier comes first, followed by those whose identifier begins with it: `ENG-1` also finds ENG-12.',
    scope: 'issues:read',
    rows: 'team',
    limit: 'read',
    query: Closed({
      q: Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'Identifier or its beginning, number, or beginnings of words; case and accents are ignored.',
      }),
      team: issueFilters.team,
    }),
    responses: { 200: IssueTitles },
    errors: ['budget_exceeded'],
    read: (ctx, { query }) => issueTitles(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/issues/{id}/similar',
    name: 'issues.similar',
    summary: 'Get issues that may be about the same thing, most similar first',
    scope: 'issues:read',
    rows: 'team',
    limit: 'search',
    params: Closed({ id: nameOf(issue) }),
    query: Closed({
      within: Type.Optional({
        ...enumeration(
          'SimilarWithin',
          ['workspace', 'team'],
          'Issues to compare with: all of the workspace, or those of the same team.',
        ),
        default: 'workspace',
      }),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 20, default: 10, description: 'Maximum number of issues.' }),
      ),
    }),
    responses: { 200: SimilarIssues },
    errors: ['budget_exceeded'],
    read: (ctx, { params, query }) => similarIssues(ctx, params.id, query),
  }),
];
