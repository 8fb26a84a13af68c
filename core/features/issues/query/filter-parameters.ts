// Filter parameters of issue lists and of search.
import { Type } from 'typebox';
import { inputForm } from '../../../platform/lib/schema.ts';
import { referenceText } from '../../../kernel/resource/filter/filter.ts';
import { issue } from '../contract.ts';
import { issueReferences } from './filter.ts';

const referenceQuery = (name: keyof typeof issueReferences) =>
  Type.Optional(Type.Unsafe<string>(referenceText(issueReferences[name])));
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
