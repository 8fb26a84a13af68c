// The bodies of issues that are not plain: a creation names its team in one of three ways and answers with five fields; lists
// show fewer fields, or whole objects.
import { Type, type Static } from 'typebox';
import { createBodyWith, shownProperties, updateBodyWith } from '../../contract/schemas.ts';
import { Closed, described, idOf, named, uuid, writes, type Writes } from '../../lib/schema.ts';
import { teamKeyGiven } from '../teams/contract.ts';
import { issue, labelNames, type priorities } from './contract.ts';
import { importedInputs } from './imported.ts';

export const externalTextMax = 255;
const externalText = Type.String({
  minLength: 1,
  maxLength: externalTextMax,
  description: `Up to ${externalTextMax} characters.`,
});
const ofTeam = {
  team: Type.Optional(described(teamKeyGiven, 'The key of the team that the issue belongs to.')),
  teamKey: Type.Optional(described(teamKeyGiven, 'Another name for `team`.')),
  teamId: Type.Optional(described(uuid, 'The id of the team, in place of its key.')),
};
const shown = shownProperties(issue);

export const IssueCreate = named(
  'IssueCreate',
  createBodyWith(issue, {
    ...ofTeam,
    externalSource: Type.Optional(described(externalText, issue.fields.externalSource.options.doc)),
    externalId: Type.Optional(described(externalText, issue.fields.externalId.options.doc)),
    ...importedInputs,
  }),
);
export type IssueInput = Static<typeof IssueCreate>;

const ofLabels = (description: string) =>
  Type.Optional(Type.Unsafe<string[]>({ ...labelNames, description, [writes]: ['labels'] satisfies Writes }));

export const IssueUpdate = named(
  'IssueUpdate',
  updateBodyWith(issue, {
    addLabels: ofLabels(
      'Names or ids of labels that the issue is to have beside those it has. Others who add at the same time lose nothing.',
    ),
    removeLabels: ofLabels('Names or ids of labels that the issue is not to have.'),
  }),
);
export type IssuePatch = Static<typeof IssueUpdate>;

/** Of an issue by its external id: what it is made with, and what of it is changed. */
export const IssueUpsert = named('IssueUpsert', createBodyWith(issue, ofTeam));
export type IssueUpsertInput = Static<typeof IssueUpsert>;

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
