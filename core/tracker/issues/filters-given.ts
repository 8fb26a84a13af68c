// Filter parameters of issue lists and of search.
import { Type } from 'typebox';
import { inputForm } from '../../lib/schema.ts';
import { namedText } from '../../resource/filter.ts';
import { issue } from './contract.ts';
import { issueReferences } from './filter.ts';

const named = (name: keyof typeof issueReferences) =>
  Type.Optional(Type.Unsafe<string>(namedText(issueReferences[name])));
export const issueFilters = {
  team: named('team'),
  state: named('state'),
  assignee: named('assignee'),
  label: named('label'),
  parent: named('parent'),
  cycle: named('cycle'),
  project: named('project'),
  milestone: named('milestone'),
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
