// Teams. Ids are UUIDs (docs/spec/api.md › Ids).
import { Type, type Static } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, idOrName, json, string, text, time } from '../../kernel/contract/field.ts';
import { weekdays } from '../../platform/lib/time/business-time.ts';
import { teamKeyInputPattern, teamKeyPattern } from '../../platform/lib/ids.ts';
import { Closed, enumeration, idOf, namedSchema, nameOf } from '../../platform/lib/schema.ts';

export const teamKey = Type.String({
  pattern: teamKeyPattern,
  description: 'Up to 10 characters A–Z and 0–9, starting with a letter.',
});
const stateId = idOf('wfs');
const transitions = Type.Record(stateId, Type.Array(stateId, { maxItems: 50 }), {
  additionalProperties: false,
  description: 'Map of state id → ids of the states that issues may move to. Null allows all transitions.',
});

const stateInput = Type.String({ minLength: 1, maxLength: 80, description: 'Id or name of a state.' });
const transitionsInput = Type.Record(Type.String(), Type.Array(stateInput, { maxItems: 50 }), {
  description:
    'Map of state → states that issues may move to, each by id or name. Null allows all transitions.',
});

/** Rhythm in which cycles are created ahead. */
const rhythm = {
  weeks: Type.Integer({ minimum: 1, maximum: 8, description: 'Length of a cycle in weeks; default 2.' }),
  startsOn: enumeration(
    'Weekday',
    weekdays,
    'Day on which cycles start, at midnight in the time zone of the team; default Monday.',
  ),
  cooldownWeeks: Type.Integer({
    minimum: 0,
    maximum: 8,
    description: 'Number of weeks between two cycles; default 0.',
  }),
  ahead: Type.Integer({
    minimum: 1,
    maximum: 15,
    description: 'Number of upcoming cycles to create ahead; default 2.',
  }),
  rollsOver: Type.Boolean({
    description:
      'True if unfinished issues move to the next cycle when their cycle is completed; default true.',
  }),
};
const rhythmInput = namedSchema(
  'CycleRhythmInput',
  Type.Partial(Closed(rhythm), { additionalProperties: false }),
);
const rhythmResponse = Closed({
  weeks: { ...rhythm.weeks, default: 2 },
  startsOn: { ...rhythm.startsOn, default: 'monday' },
  cooldownWeeks: { ...rhythm.cooldownWeeks, default: 0 },
  ahead: { ...rhythm.ahead, default: 2 },
  rollsOver: { ...rhythm.rollsOver, default: true },
});
export type Rhythm = Static<typeof rhythmResponse>;

export const team = defineContract({
  name: 'team',
  path: 'teams',
  title: 'Team',
  id: null,
  alias: {
    pattern: teamKeyInputPattern,
    doc: 'the case-insensitive key of a team, such as ENG.',
    field: 'key',
  },
  names: { by: ['key', 'name'] },
  doc: 'Container of issues, with its own issue numbers and workflow states.',
  fields: {
    key: string(teamKey, {
      required: true,
      write: 'create',
      doc: 'Prefix of the identifiers of issues.',
    }),
    name: text({ max: 80, default: '', doc: 'Name of the team.' }),
    transitions: json(
      transitionsInput,
      { nullable: true, write: 'update', doc: 'Allowed transitions between workflow states.' },
      transitions,
    ),
    triage: choice(['off', 'outside', 'all'], {
      default: 'off',
      doc: 'New issues that go to the triage state unless the request names a state: `off` for none, `outside` for those of plugins and guests, `all` for all.',
    }),
    timeZone: text({
      max: 64,
      default: 'UTC',
      doc: 'IANA name of the time zone in which days begin, such as Europe/Zagreb.',
    }),
    archivedAt: time({
      nullable: true,
      write: 'never',
      doc: 'Time at which the team was archived; null unless archived.',
    }),
    cycles: json(
      rhythmInput,
      {
        nullable: true,
        write: 'update',
        doc: 'Rhythm in which cycles are created; null to create none automatically.',
      },
      rhythmResponse,
    ),
  },
  undo: 'values',
  operations: {
    list: 'List teams',
    create: 'Create a team with its workflow states',
    get: 'Get a team',
    update: 'Change a team or its allowed transitions',
  },
  events: {
    created: 'team.created',
    updated: 'team.updated',
    other: ['team.archived', 'team.unarchived'],
  },
  ofTeam: true,
  directory: {
    as: 'teams',
    entryFields: ['key', 'name', 'transitions', 'triage', 'timeZone', 'cycles', 'archivedAt'],
  },
  examples: { create: { key: 'ENG', name: 'Engineering' }, update: { name: 'Platform' } },
});

/** Reference to a team in a request body. */
export const teamInput = idOrName(team);
/** Reference to a team in a path or a query. */
export const teamParameter = nameOf(team);
