// Bodies of issue routes that differ from other resources: a creation names its team in one of three ways
// and responds with five fields; lists return fewer fields.
import { Type, type Static } from 'typebox';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import {
  nameOf,
  nullable,
  writes,
  type WrittenFields,
  described,
  Closed,
  idOf,
  namedSchema,
  version,
} from '../../platform/lib/schema.ts';
import { issue, labelNames, type priorities } from './contract.ts';
import { idOrName } from '../../kernel/contract/field.ts';
import { member } from '../people/contract.ts';
import { type StateType, state } from '../workflows/contract.ts';
import type { StateTimes } from './model.ts';
import {
  createBodyWith,
  otherName,
  responseProperties,
  updateBodyWith,
} from '../../kernel/contract/schemas.ts';
import { teamInput } from '../teams/contract.ts';
import { template } from '../templates/contract.ts';

const nothing: WrittenFields = [];
const ends = ['top', 'bottom'] as const;

/**
 * Returns the properties of a request body that set a position in a manual order, of cards as of sub-issues.
 * @param other noun for the other items: `Card`
 * @param end description of `position`
 */
export function positionInputs(other: string, end: string) {
  const beside = (description: string) =>
    Type.Optional(Type.Unsafe<string | null>({ ...nullable(nameOf(issue)), description, [writes]: nothing }));
  return {
    before: beside(`${other} to place this one before; null places it last.`),
    after: beside(`${other} to place this one after; null places it first.`),
    position: Type.Optional(
      Type.Unsafe<(typeof ends)[number]>({
        ...Type.Enum([...ends], { 'x-enum': 'Position', description: end }),
        [writes]: nothing,
      }),
    ),
  };
}

const ways = ['before', 'after', 'position'] as const;
type PositionInput = { readonly [W in 'before' | 'after']?: string | null } & {
  readonly position?: (typeof ends)[number];
};

export interface PositionExtras {
  readonly by: 'before' | 'after';
  readonly other: string;
}
export type OrderPosition = PositionExtras | { readonly by: (typeof ends)[number] };

/**
 * Returns the position and the property that sets it; null if none does.
 * @throws ApiError validation_failed
 */
export function readPosition(
  input: PositionInput,
): { readonly at: (typeof ways)[number]; readonly position: OrderPosition } | null {
  const [at, second] = ways.filter((way) => input[way] !== undefined);
  if (at === undefined) return null;
  if (second !== undefined)
    throw invalidField(second, 'conflict', {
      why: `${at} already sets the position.`,
      fix: `Leave out ${at} or ${second}.`,
    });
  if (at === 'position') return { at, position: { by: input.position! } };
  const other = input[at]!;
  return { at, position: other === null ? { by: at === 'after' ? 'top' : 'bottom' } : { by: at, other } };
}

/** Later numbers must still fit into an identifier. */
const numberMax = 9_999_999;

/** State types in which an issue can have each of its times. */
export const typesWith = {
  startedAt: ['started', 'completed', 'canceled', 'duplicate'],
  completedAt: ['completed'],
  canceledAt: ['canceled', 'duplicate'],
} as const satisfies Record<keyof StateTimes, readonly StateType[]>;

const timeInput = (name: keyof StateTimes) =>
  Type.Optional(
    Type.String({
      maxLength: 40,
      description: `Time, ISO 8601, allowed in states of type ${typesWith[name].join(', ')}; needs the scope \`import:write\`. Default: null if \`createdAt\` is given, otherwise as for other issues.`,
    }),
  );

export const importedInputs = {
  number: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: numberMax,
      description:
        'Number of the issue in the other system, if its team never used it; needs the scope `import:write`. Default: the next number.',
    }),
  ),
  createdAt: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Time of creation in the other system, ISO 8601; needs the scope `import:write`.',
    }),
  ),
  creatorId: Type.Optional(
    described(
      idOrName(member),
      'Creator of the issue in the other system; a removed member must be given by id. Requires the scope `import:write`.',
    ),
  ),
  startedAt: timeInput('startedAt'),
  completedAt: timeInput('completedAt'),
  canceledAt: timeInput('canceledAt'),
};

export const externalTextMax = 255;
const externalText = Type.String({
  minLength: 1,
  maxLength: externalTextMax,
  description: `Up to ${externalTextMax} characters.`,
});
const ofTeam = {
  team: Type.Optional(described(teamInput, 'Team of the issue.')),
  teamKey: Type.Optional(described(teamInput, 'Another name for `team`.')),
  teamId: Type.Optional(described(teamInput, 'Another name for `team`.')),
};
const issueProperties = responseProperties(issue);

export const IssueCreate = namedSchema(
  'IssueCreate',
  createBodyWith(issue, {
    ...ofTeam,
    templateId: Type.Optional(
      described(
        idOrName(template),
        'Template for the issue. Fields in the body override the template; its sub-issues are created as well.',
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
  Type.Optional(
    Type.Unsafe<string[]>({ ...labelNames, description, [writes]: ['labels'] satisfies WrittenFields }),
  );

export const IssueUpdate = namedSchema(
  'IssueUpdate',
  updateBodyWith(issue, {
    addLabels: ofLabels(
      'Names or ids of labels to add. Labels that others add at the same time are preserved.',
    ),
    removeLabels: ofLabels('Names or ids of labels to remove.'),
  }),
);
export type IssuePatch = Static<typeof IssueUpdate>;

/** Body of an upsert by external id: values for a creation, or changes of the existing issue. */
export const IssueUpsert = namedSchema('IssueUpsert', createBodyWith(issue, ofTeam));
export type IssueUpsertInput = Static<typeof IssueUpsert>;

export const IssueMove = namedSchema(
  'IssueMove',
  Closed({
    ...ofTeam,
    team: Type.Optional(described(teamInput, 'Team to move the issue to.')),
    stateId: Type.Optional(
      described(
        idOrName(state),
        'State in the new team; default: the state of the same type, with the same name if there is one.',
      ),
    ),
    state: otherName('stateId', idOrName(state)),
  }),
);
export type IssueMoveInput = Static<typeof IssueMove>;

export const IssueReorder = namedSchema(
  'IssueReorder',
  Closed(positionInputs('Sibling issue', 'End of the list of sub-issues to place the issue at.')),
);
export type IssueReorderInput = Static<typeof IssueReorder>;

export const IssueBulkCreate = namedSchema(
  'IssueBulkCreate',
  Closed({
    issues: Type.Array(IssueCreate, {
      minItems: 1,
      maxItems: 100,
      description: 'Issues to create, up to 100.',
    }),
  }),
);

export const selectedMax = 500;
export const issueNames = Type.Unsafe<string[]>({
  ...Type.Array(nameOf(issue), {
    minItems: 1,
    maxItems: selectedMax,
    description: `Ids or identifiers of issues, up to ${selectedMax}.`,
  }),
  [writes]: nothing,
});
const selection = {
  ids: Type.Optional(issueNames),
  filter: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      minProperties: 1,
      description: `Filter tree, as for the list of issues. A filter that matches more than ${selectedMax} issues is refused.`,
      [writes]: nothing,
    }),
  ),
};
export const IssueSelection = namedSchema('IssueSelection', Closed(selection));
export type IssueSelectionInput = Static<typeof IssueSelection>;

export const IssueBulkUpdate = namedSchema(
  'IssueBulkUpdate',
  Closed({
    ...selection,
    set: described(
      Type.Unsafe<IssuePatch>({ ...IssueUpdate, [writes]: 'inside' satisfies WrittenFields }),
      'Changes to make to each issue.',
    ),
  }),
);

export const IssueChanges = namedSchema(
  'IssueChanges',
  Closed({
    id: idOf(issue.id),
    identifier: Type.Unsafe<string | null>(issueProperties.identifier!),
    version,
    changes: Type.Record(
      Type.String(),
      Closed({
        from: Type.Unknown({ description: 'Value before the change.' }),
        to: Type.Unknown({ description: 'Value after the change.' }),
      }),
      {
        description: 'Changed fields by name; empty if nothing changes.',
      },
    ),
  }),
);

export const IssueBulkChanged = namedSchema(
  'IssueBulkChanged',
  Closed({ data: Type.Array(IssueChanges, { description: 'Changes of each issue.' }) }),
);

/** Response to a creation (docs/spec/api.md › Issue). */
export const IssueCreated = namedSchema(
  'IssueCreated',
  Closed({
    id: idOf(issue.id),
    identifier: Type.Unsafe<string | null>(issueProperties.identifier!),
    title: Type.Unsafe<string>(issueProperties.title!),
    priority: Type.Unsafe<(typeof priorities)[number]>(issueProperties.priority!),
    url: Type.Unsafe<string | null>(issueProperties.url!),
  }),
);

export const IssueBulkCreated = namedSchema(
  'IssueBulkCreated',
  Closed({
    data: Type.Array(IssueCreated, { description: 'Created issues, in the order of the request.' }),
  }),
);
