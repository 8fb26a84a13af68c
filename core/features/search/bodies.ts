import { Type, type Static } from 'typebox';
import { responseProperties } from '../../kernel/contract/schemas.ts';
import { Closed, enumeration, idOf, namedSchema, nullable, pageWith } from '../../platform/lib/schema.ts';
import { issue } from '../issues/contract.ts';
import type { IssueResponse } from '../issues/index.ts';

export type FoundIssue = Omit<IssueResponse, 'description'>;

const { description: _, ...foundIssueProperties } = responseProperties(issue);

const FoundIssueResponse = Type.Unsafe<FoundIssue>(
  namedSchema('FoundIssue', Closed(foundIssueProperties, { description: 'Issue without its description.' })),
);

const HighlightResponse = namedSchema(
  'Highlight',
  Closed({
    field: enumeration(
      'HighlightField',
      ['title', 'description', 'comment'],
      'Field that contains the match.',
    ),
    commentId: nullable(idOf('cmt', 'Id of the comment that matches; null for the issue itself.')),
    text: Type.String({
      description: 'Excerpt of up to 240 characters around the first match, not HTML-escaped.',
    }),
    ranges: Type.Array(
      Closed({
        start: Type.Integer({ minimum: 0, description: 'First UTF-16 code unit of the match in `text`.' }),
        end: Type.Integer({ minimum: 0, description: 'UTF-16 code unit after the match.' }),
      }),
      { description: 'Matches in `text`.' },
    ),
  }),
);

export type Highlight = Static<typeof HighlightResponse>;

const SearchHit = namedSchema(
  'SearchHit',
  Closed({
    issue: FoundIssueResponse,
    highlights: Type.Array(HighlightResponse, {
      description:
        'One highlight per matching text; empty if the issue was found by its identifier or number.',
    }),
  }),
);

export const SearchPage = pageWith('SearchPage', SearchHit, {
  isComplete: Type.Boolean({
    description: 'False if too many recent changes were not yet indexed; retry a little later.',
  }),
});

export const SimilarIssues = namedSchema(
  'SimilarIssues',
  Closed({
    data: Type.Array(
      namedSchema(
        'SimilarIssue',
        Closed({
          issue: FoundIssueResponse,
          score: Type.Number({
            minimum: 0,
            maximum: 1,
            description:
              'Similarity, weighted by the rarity of shared words; issues with at least 0.6 are often about the same thing.',
          }),
          evidence: Type.Array(Type.String(), {
            description: 'Shared words, rarest first.',
          }),
        }),
      ),
      { description: 'Similar issues, most similar first.' },
    ),
  }),
);

type IssueTitle = Pick<IssueResponse, 'id' | 'identifier' | 'title' | 'state' | 'url'>;
const titleFields = ['id', 'identifier', 'title', 'state', 'url'] as const;
const properties = responseProperties(issue);

export const IssueTitles = namedSchema(
  'IssueTitles',
  Closed({
    data: Type.Array(
      Type.Unsafe<IssueTitle>(
        namedSchema(
          'IssueTitle',
          Closed(Object.fromEntries(titleFields.map((name) => [name, properties[name]!])), {
            description: 'Issue by its title.',
          }),
        ),
      ),
      { description: 'Up to 20 issues: those whose identifier or number matches, then the best match.' },
    ),
  }),
);
