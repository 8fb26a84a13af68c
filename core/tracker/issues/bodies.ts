// The bodies of issues that are not plain: a creation names its team in one of three ways and answers with five fields; lists
// show fewer fields, or whole objects.
import { Type, type Static, type TSchema } from 'typebox';
import { createBodyWith, shownProperties, updateBodyWith } from '../../contract/schemas.ts';
import { Closed, idOf, named, nullable, uuid, writes, type Writes } from '../../lib/schema.ts';
import { teamKeyGiven } from '../teams/contract.ts';
import { issue, labelNames, priorities } from './contract.ts';
import { importedInputs } from './imported.ts';

export const externalTextMax = 255;
const externalText = Type.String({
  minLength: 1,
  maxLength: externalTextMax,
  description: `Up to ${externalTextMax} characters.`,
});
const ofTeam = {
  team: Type.Optional(teamKeyGiven),
  teamKey: Type.Optional(teamKeyGiven),
  teamId: Type.Optional(uuid),
};

export const IssueCreate = named(
  'IssueCreate',
  createBodyWith(issue, {
    ...ofTeam,
    externalSource: Type.Optional(externalText),
    externalId: Type.Optional(externalText),
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

export const IssueBulk = Closed({ issues: Type.Array(IssueCreate, { minItems: 1, maxItems: 100 }) });

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
