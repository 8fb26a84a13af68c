// Teams: the owners of issues, numbers and workflow states. Ids are UUIDs (docs/spec/api.md › Ids).
import { Type, type Static } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { choice, idOrName, json, string, text, time } from '../../contract/field.ts';
import { weekdays } from '../../lib/business-time.ts';
import { teamKeyGivenPattern, teamKeyPattern } from '../../lib/issue-names.ts';
import { Closed, enumeration, idOf, named, nameOf } from '../../lib/schema.ts';

export const teamKey = Type.String({
  pattern: teamKeyPattern,
  description: 'A team key: up to 10 characters A–Z and 0–9, a letter first.',
});
const stateId = idOf('wfs');
const transitions = Type.Record(stateId, Type.Array(stateId, { maxItems: 50 }), {
  additionalProperties: false,
  description: 'State id → ids of the states that its issues may move to. Null allows any move.',
});

const stateGiven = Type.String({ minLength: 1, maxLength: 80, description: 'Id or name of a state.' });
const transitionsGiven = Type.Record(Type.String(), Type.Array(stateGiven, { maxItems: 50 }), {
  description: 'State → states that its issues may move to, each by id or name. Null allows any move.',
});

/** By which cycles are made ahead. */
const rhythm = {
  weeks: Type.Integer({ minimum: 1, maximum: 8, description: 'How long each cycle is; 2 unless given.' }),
  startsOn: enumeration(
    'Weekday',
    weekdays,
    'The day on which each starts, at midnight where the team is; Monday unless given.',
  ),
  cooldownWeeks: Type.Integer({
    minimum: 0,
    maximum: 8,
    description: 'How many weeks lie between two; none unless given.',
  }),
  ahead: Type.Integer({
    minimum: 1,
    maximum: 15,
    description: 'How many upcoming ones there are to be; 2 unless given.',
  }),
  rollsOver: Type.Boolean({
    description:
      'Whether unfinished issues go on to the next cycle when theirs is completed; they do unless it says otherwise.',
  }),
};
const rhythmGiven = named('CycleRhythmGiven', Type.Partial(Closed(rhythm), { additionalProperties: false }));
const rhythmShown = Closed({
  weeks: { ...rhythm.weeks, default: 2 },
  startsOn: { ...rhythm.startsOn, default: 'monday' },
  cooldownWeeks: { ...rhythm.cooldownWeeks, default: 0 },
  ahead: { ...rhythm.ahead, default: 2 },
  rollsOver: { ...rhythm.rollsOver, default: true },
});
export type Rhythm = Static<typeof rhythmShown>;

export const team = defineContract({
  name: 'team',
  path: 'teams',
  title: 'Team',
  id: null,
  alias: { pattern: teamKeyGivenPattern, doc: 'its key in any case, such as ENG.', field: 'key' },
  names: { by: ['key', 'name'] },
  doc: 'The owner of issues, their numbers and their workflow states.',
  fields: {
    key: string(teamKey, {
      required: true,
      write: 'create',
      doc: 'What the identifiers of its issues begin with.',
    }),
    name: text({ max: 80, default: '', doc: 'What it is called.' }),
    transitions: json(
      transitionsGiven,
      { nullable: true, write: 'update', doc: 'The moves between states that it allows.' },
      transitions,
    ),
    triage: choice(['off', 'outside', 'all'], {
      default: 'off',
      doc: 'Which new issues go to its triage state where they say no other: those of plugins and guests (`outside`), or all.',
    }),
    timeZone: text({
      max: 64,
      default: 'UTC',
      doc: 'The IANA name of the time zone by which its days begin, such as Europe/Zagreb.',
    }),
    archivedAt: time({
      nullable: true,
      write: 'never',
      doc: 'Time at which the team was archived; null for a team that takes issues.',
    }),
    cycles: json(
      rhythmGiven,
      {
        nullable: true,
        write: 'update',
        doc: 'The rhythm by which its cycles are made ahead; null where nothing makes them.',
      },
      rhythmShown,
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
    keeps: ['key', 'name', 'transitions', 'triage', 'timeZone', 'cycles', 'archivedAt'],
  },
  examples: { create: { key: 'ENG', name: 'Engineering' }, update: { name: 'Platform' } },
});

/** A team in a request body. */
export const teamGiven = idOrName(team);
/** A team in a path or a query. */
export const teamAsked = nameOf(team);
