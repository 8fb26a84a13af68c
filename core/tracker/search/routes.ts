import { Type } from 'typebox';
import { defineRoute } from '../../http/route.ts';
import { Closed, enumeration, nameOf, pageQuery } from '../../lib/schema.ts';
import { issue } from '../issues/contract.ts';
import { issueFilters } from '../issues/filters-given.ts';
import { depthMax, searchIssues } from './find.ts';
import { SearchPage, SimilarIssues } from './schema.ts';
import { similarIssues } from './similar.ts';

export const searchRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/search',
    name: 'search.query',
    summary: 'Find issues by their words, the likeliest first',
    description: `Looks at titles and descriptions, and with \`comments:read\` at comments, which lead to their issue. An issue has all words in itself or in one comment. The identifier or number of an issue finds it first. Reaches ${depthMax} issues deep.`,
    scope: 'issues:read',
    rows: 'team',
    limit: 'search',
    query: Closed({
      q: Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          'Some words, in any case and without accents; `"a phrase"`, `begin*`, `-without`. The last word may be the beginning of one.',
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
    path: '/api/v1/issues/{id}/similar',
    name: 'issues.similar',
    summary: 'Get issues that may be about the same thing, the likest first',
    scope: 'issues:read',
    rows: 'team',
    limit: 'search',
    params: Closed({ id: nameOf(issue) }),
    query: Closed({
      within: Type.Optional({
        ...enumeration('SimilarWithin', ['workspace', 'team'], 'Where to look.'),
        default: 'workspace',
      }),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 20, default: 10, description: 'At most so many.' }),
      ),
    }),
    responses: { 200: SimilarIssues },
    errors: ['budget_exceeded'],
    read: (ctx, { params, query }) => similarIssues(ctx, params.id, query),
  }),
];
