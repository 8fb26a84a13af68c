// The bodies of issues that are not plain: a creation names its team in one of three ways and answers with five fields; lists
// show fewer fields, or whole objects.
import { Type, type Static } from 'typebox';
import { idOrName } from '../../contract/field.ts';
import { createBodyWith, otherName, shownProperties, updateBodyWith } from '../../contract/schemas.ts';
import { Closed, described, idOf, named, nameOf, version, writes, type Writes } from '../../lib/schema.ts';
import { teamGiven } from '../teams/contract.ts';
import { template } from '../templates/contract.ts';
import { state } from '../workflows/contract.ts';
import { issue, labelNames, type priorities } from './contract.ts';
import { importedInputs } from './imported.ts';
import { placeInputs } from './place.ts';

export const externalTextMax = 255;
const externalText = Type.String({
  minLength: 1,
  maxLength: externalTextMax,
  description: `Up to ${externalTextMax} characters.`,
});
const ofTeam = {
  team: Type.Optional(described(teamGiven, 'The team that the issue belongs to.')),
  teamKey: Type.Optional(described(teamGiven, 'Another name for `team`.')),
  teamId: Type.Optional(described(teamGiven, 'Another name for `team`.')),
};
const shown = shownProperties(issue);

export const IssueCreate = named(
  'IssueCreate',
  createBodyWith(issue, {
    ...ofTeam,
    templateId: Type.Optional(
      described(
        idOrName(template),
        'A template: what the body leaves out is as the template has it, and its sub-issues are made along.',
      ),
    ),
    template: otherName('templateId', idOrName(template)),
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

export const IssueMove = named(
  'IssueMove',
  Closed({
    ...ofTeam,
    team: Type.Optional(described(teamGiven, 'The team that it goes to.')),
    stateId: Type.Optional(
      described(
        idOrName(state),
        'Its state there; absent: the one of the same type and, where there is one, name.',
      ),
    ),
    state: otherName('stateId', idOrName(state)),
  }),
);
export type IssueMoveInput = Static<typeof IssueMove>;

export const IssueReorder = named(
  'IssueReorder',
  Closed(placeInputs('The issue of the same parent', 'The end of their order that it is put at.')),
);
export type IssueReorderInput = Static<typeof IssueReorder>;

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

export const selectedMax = 500;
const nothing: Writes = [];
/** Issues that a request is about. */
export const issuesNamed = Type.Unsafe<string[]>({
  ...Type.Array(nameOf(issue), {
    minItems: 1,
    maxItems: selectedMax,
    description: `Ids or identifiers of up to ${selectedMax} issues.`,
  }),
  [writes]: nothing,
});
/** These, or all that pass a filter. */
const selection = {
  ids: Type.Optional(issuesNamed),
  filter: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      minProperties: 1,
      description: `A filter tree, as in the list of issues. More than ${selectedMax} that pass are refused.`,
      [writes]: nothing,
    }),
  ),
};
export const IssueSelection = named('IssueSelection', Closed(selection));
export type IssueSelectionInput = Static<typeof IssueSelection>;

export const IssueBulkUpdate = named(
  'IssueBulkUpdate',
  Closed({
    ...selection,
    set: described(
      Type.Unsafe<IssuePatch>({ ...IssueUpdate, [writes]: 'inside' satisfies Writes }),
      'What becomes of each of them.',
    ),
  }),
);

/** One of the issues that a bulk operation was about. */
export const IssueChanges = named(
  'IssueChanges',
  Closed({
    id: idOf(issue.id),
    identifier: Type.Unsafe<string | null>(shown.identifier!),
    version,
    changes: Type.Record(
      Type.String(),
      Closed({
        from: Type.Unknown({ description: 'What it was.' }),
        to: Type.Unknown({ description: 'What it is now.' }),
      }),
      {
        description: 'What of it changes, by field; empty where nothing does.',
      },
    ),
  }),
);

export const IssueBulkChanged = named(
  'IssueBulkChanged',
  Closed({ data: Type.Array(IssueChanges, { description: 'What of each issue changes.' }) }),
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
