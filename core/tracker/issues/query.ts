// What the lists of issues take: the list itself, and that of a view.
import { Type, type TOptional, type TString } from 'typebox';
import { deletedQuery } from '../../resource/deleted.ts';
import { htmlQueryOf } from '../../resource/html.ts';
import { Closed, givenAs, pageQuery } from '../../lib/schema.ts';
import { issue } from './contract.ts';
import { relationQuery } from '../relations/narrowing.ts';
import { issueFilters } from './filters-given.ts';

/** How much of each is shown. */
export const shape = {
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
  ...(htmlQueryOf(issue) as { include: TOptional<TString> }),
};
export const listQuery = Closed({
  ...pageQuery,
  ...issueFilters,
  ...relationQuery,
  ...deletedQuery,
  sort: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Such as `-priority,updatedAt` or `fields.severity`; default `-createdAt`.',
    }),
  ),
  ...shape,
});
