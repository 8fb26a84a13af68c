// Teams: the owners of issues, numbers and workflow states. Ids are UUIDs (docs/spec/api.md › Ids).
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { json, string, text } from '../../contract/field.ts';
import { teamKeyGivenPattern, teamKeyPattern } from '../../lib/issue-names.ts';
import { idOf } from '../../lib/schema.ts';

export const teamKey = Type.String({
  pattern: teamKeyPattern,
  description: 'A team key: up to 10 characters A–Z and 0–9, a letter first.',
});
/** How requests name a team. */
export const teamKeyGiven = Type.String({
  pattern: teamKeyGivenPattern,
  description: 'A team key, in any case: up to 10 characters A–Z and 0–9, a letter first.',
});
const stateId = idOf('wfs');
const transitions = Type.Record(stateId, Type.Array(stateId, { maxItems: 50 }), {
  additionalProperties: false,
  description: 'State id → ids of the states that its issues may move to. Null allows any move.',
});

export const team = defineContract({
  name: 'team',
  path: 'teams',
  title: 'Team',
  id: null,
  doc: 'The owner of issues, their numbers and their workflow states.',
  fields: {
    key: string(teamKey, {
      required: true,
      write: 'create',
      doc: 'What the identifiers of its issues begin with.',
    }),
    name: text({ max: 80, default: '', doc: 'What it is called.' }),
    transitions: json(transitions, {
      nullable: true,
      write: 'update',
      doc: 'The moves between states that it allows.',
    }),
  },
  operations: {
    list: 'List teams',
    create: 'Create a team with its workflow states',
    get: 'Get a team',
    update: 'Change a team or its allowed transitions',
  },
  events: { created: 'team.created', updated: 'team.updated' },
  directory: { as: 'teams', keeps: ['key', 'name', 'transitions'] },
  examples: { create: { key: 'ENG', name: 'Engineering' }, update: { name: 'Platform' } },
});
