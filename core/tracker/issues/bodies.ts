// The bodies of issues that are not plain: a creation names its team in one of three ways and answers with five fields; lists
// show fewer fields, or whole objects.
import { Type, type Static, type TSchema } from 'typebox';
import { createBodyWith, shownProperties } from '../../contract/schemas.ts';
import { Closed, idOf, named, nullable, uuid } from '../../lib/schema.ts';
import { teamKeyGiven } from '../teams/contract.ts';
import { issue, priorities } from './contract.ts';

const externalText = Type.String({ minLength: 1, maxLength: 255, description: 'Up to 255 characters.' });

export const IssueCreate = named(
  'IssueCreate',
  createBodyWith(issue, {
    team: Type.Optional(teamKeyGiven),
    teamKey: Type.Optional(teamKeyGiven),
    teamId: Type.Optional(uuid),
    externalSource: Type.Optional(externalText),
    externalId: Type.Optional(externalText),
  }),
);
export type IssueInput = Static<typeof IssueCreate>;

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
