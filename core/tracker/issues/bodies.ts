// The bodies of issues that are not plain: a creation names its team in one of three ways and answers with five
// fields.
import { Type, type Static } from 'typebox';
import { createBodyWith, shownProperties } from '../../contract/schemas.ts';
import { Closed, described, idOf, named, uuid } from '../../lib/schema.ts';
import { teamKey } from '../teams/contract.ts';
import { issue, priorities } from './contract.ts';

const externalText = Type.String({ minLength: 1, maxLength: 255, description: 'Up to 255 characters.' });
const shown = shownProperties(issue);

export const IssueCreate = named(
  'IssueCreate',
  createBodyWith(issue, {
    team: Type.Optional(described(teamKey, 'The key of the team that the issue belongs to.')),
    teamKey: Type.Optional(described(teamKey, 'Another name for `team`.')),
    teamId: Type.Optional(described(uuid, 'The id of the team, in place of its key.')),
    externalSource: Type.Optional(described(externalText, issue.fields.externalSource.options.doc)),
    externalId: Type.Optional(described(externalText, issue.fields.externalId.options.doc)),
  }),
);
export type IssueInput = Static<typeof IssueCreate>;

export const IssueBulkCreate = named(
  'IssueBulkCreate',
  Closed({
    issues: Type.Array(IssueCreate, {
      minItems: 1,
      maxItems: 100,
      description: 'The issues to create, up to 100.',
    }),
  }),
);

/** What a creation answers with (docs/spec/api.md › Issue). */
export const IssueCreated = named(
  'IssueCreated',
  Closed({
    id: idOf(issue.id),
    identifier: Type.Unsafe<string | null>(shown.identifier!),
    title: Type.Unsafe<string>(shown.title!),
    priority: Type.Unsafe<(typeof priorities)[number]>(shown.priority!),
    url: Type.Unsafe<string | null>(shown.url!),
  }),
);

export const IssueBulkCreated = named(
  'IssueBulkCreated',
  Closed({
    data: Type.Array(IssueCreated, { description: 'What was created, in the order of the request.' }),
  }),
);
