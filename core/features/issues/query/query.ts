// Query parameters of issue lists, also used by views.
import { Type, type TOptional, type TString } from 'typebox';
import { deletedQuery } from '../../../kernel/resource/archived.ts';
import { htmlQueryOf } from '../../../kernel/resource/model.ts';
import { Closed, inputForm, pageQuery } from '../../../platform/lib/schema.ts';
import { issue } from '../contract.ts';
import { relationQuery } from './relations.ts';
import { referenceText } from '../../../kernel/resource/filter/filter.ts';
import { issueReferences } from './filter.ts';

const referenceQuery = (name: keyof typeof issueReferences) =>
  Type.Optional(Type.Unsafe<string>(referenceText(issueReferences[name])));

/** Filter parameters of issue lists and of search. */
export const issueFilters = {
  team: referenceQuery('team'),
  state: referenceQuery('state'),
  assignee: referenceQuery('assignee'),
  label: referenceQuery('label'),
  parent: referenceQuery('parent'),
  cycle: referenceQuery('cycle'),
  project: referenceQuery('project'),
  milestone: referenceQuery('milestone'),
  priority: Type.Optional(Type.Unsafe<string>(issue.fields.priority.input)),
  updatedSince: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'Earliest time of the last update, inclusive: ISO 8601, or relative to now, such as `-P7D`.',
    }),
  ),
  filter: Type.Optional(
    Type.String({ maxLength: 8000, description: 'Filter tree as JSON.', [inputForm]: 'json' }),
  ),
};

export const shape = {
  fields: Type.Optional(
    Type.String({
      maxLength: 500,
      description: 'Comma-separated fields to return; all others are left out.',
      [inputForm]: 'fields',
    }),
  ),
  expand: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Comma-separated references to return as whole objects: assignee, project, parent.',
      [inputForm]: 'list',
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
      description:
        'Comma-separated sort keys such as `-priority,updatedAt` or `fields.severity`; `-` means descending. Default `-createdAt`.',
    }),
  ),
  ...shape,
});
