// What a search and a look for similar issues answer.
import { Type, type Static } from 'typebox';
import { shownProperties } from '../../contract/schemas.ts';
import { Closed, enumeration, idOf, named, nullable, pageWith } from '../../lib/schema.ts';
import { issue } from '../issues/contract.ts';
import type { ShownIssue } from '../issues/kind.ts';

export type FoundIssue = Omit<ShownIssue, 'description'>;

const { description: _, ...ofFoundIssue } = shownProperties(issue);
const FoundIssueShown = Type.Unsafe<FoundIssue>(
  named('FoundIssue', Closed(ofFoundIssue, { description: 'An issue without its description.' })),
);

const HighlightShown = named(
  'Highlight',
  Closed({
    field: enumeration('HighlightField', ['title', 'description', 'comment'], 'Whose text this is.'),
    commentId: nullable(idOf('cmt', 'The comment that says it; null for the issue itself.')),
    text: Type.String({
      description:
        'Up to 240 characters around the first place, as they were written: escape them like any other text.',
    }),
    ranges: Type.Array(
      Closed({
        start: Type.Integer({ minimum: 0, description: 'Its first UTF-16 code unit in `text`.' }),
        end: Type.Integer({ minimum: 0, description: 'The one after its last.' }),
      }),
      { description: 'Where `text` has what was looked for.' },
    ),
  }),
);
export type Highlight = Static<typeof HighlightShown>;

const SearchHit = named(
  'SearchHit',
  Closed({
    issue: FoundIssueShown,
    highlights: Type.Array(HighlightShown, {
      description:
        'One for each text that has it; none where the issue was found by its identifier or number.',
    }),
  }),
);

export const SearchPage = pageWith('SearchPage', SearchHit, {
  isComplete: Type.Boolean({
    description:
      'False where so much was just changed that not all of it could be looked at: ask again a little later.',
  }),
});

export const SimilarIssues = named(
  'SimilarIssues',
  Closed({
    data: Type.Array(
      named(
        'SimilarIssue',
        Closed({
          issue: FoundIssueShown,
          score: Type.Number({
            minimum: 0,
            maximum: 1,
            description:
              'How much of what is rare in both they share; from 0.6 on it is often the same thing.',
          }),
          evidence: Type.Array(Type.String(), {
            description: 'The words that they share, the rarest first.',
          }),
        }),
      ),
      { description: 'The likest first.' },
    ),
  }),
);
