// The bodies of issues that are not plain: a creation names its team in one of three ways and answers with five fields; lists
// show fewer fields, or whole objects.
import { Type, type Static, type TSchema } from 'typebox';
import { createBodyWith, shownProperties, updateBodyWith } from '../../contract/schemas.ts';
import {
  Closed,
  idOf,
  named,
  nameOf,
  nullable,
  uuid,
  version,
  writes,
  type Writes,
} from '../../lib/schema.ts';
import { teamKey } from '../teams/contract.ts';
import { issue, labelNames, priorities } from './contract.ts';

export const externalTextMax = 255;
const externalText = Type.String({
  minLength: 1,
  maxLength: externalTextMax,
  description: `Up to ${externalTextMax} characters.`,
});
const ofTeam = {
  team: Type.Optional(teamKey),
  teamKey: Type.Optional(teamKey),
  teamId: Type.Optional(uuid),
};

export const IssueCreate = named(
  'IssueCreate',
  createBodyWith(issue, {
    ...ofTeam,
    externalSource: Type.Optional(externalText),
    externalId: Type.Optional(externalText),
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

export const IssueBulk = Closed({ issues: Type.Array(IssueCreate, { minItems: 1, maxItems: 100 }) });

export const selectedMax = 500;
const nothing: Writes = [];
/** Which issues a request is about: these, or all that pass a filter. */
const selection = {
  ids: Type.Optional(
    Type.Unsafe<string[]>({
      ...Type.Array(nameOf(issue), {
        minItems: 1,
        maxItems: selectedMax,
        description: `Ids or identifiers of up to ${selectedMax} issues.`,
      }),
      [writes]: nothing,
    }),
  ),
  filter: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      minProperties: 1,
      description: `A filter tree, as in the list of issues. More than ${selectedMax} that pass are refused.`,
      [writes]: nothing,
    }),
  ),
};
export const IssueSelection = Closed(selection);
export type IssueSelectionInput = Static<typeof IssueSelection>;

export const IssueBulkUpdate = Closed({
  ...selection,
  set: Type.Unsafe<IssuePatch>({ ...IssueUpdate, [writes]: 'inside' satisfies Writes }),
});

/** One of the issues that a bulk operation was about. */
export const IssueChanges = named(
  'IssueChanges',
  Closed({
    id: idOf(issue.id),
    identifier: nullable(Type.String()),
    version,
    changes: Type.Record(Type.String(), Closed({ from: Type.Unknown(), to: Type.Unknown() }), {
      description: 'What of it changes, by field; empty where nothing does.',
    }),
  }),
);

/** What a creation answers with (docs/spec/api.md › Issue). */
export const IssueCreated = named(
  'IssueCreated',
  Closed({
    id: idOf(issue.id),
    identifier: nullable(Type.String()),
    title: Type.String(),
    priority: Type.Enum([...priorities]),
    url: nullable(Type.String({ format: 'uri' })),
  }),
);

/** An issue with `fields` or `expand`: fewer fields, or whole objects in place of references. */
export const IssueListed: TSchema = named(
  'IssueListed',
  Type.Partial(Closed(shownProperties(issue)), { additionalProperties: false }),
);
