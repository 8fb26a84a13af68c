// Workflow states: the steps of a team's work, each of one of the decided types.
import { Type, type Static } from 'typebox';
import type { Entity } from '../../changes/change.ts';
import { defineKind } from '../../changes/kind.ts';
import { isoTime } from '../../changes/operations.ts';
import { Closed, id, named, text, time, version } from '../../lib/schema.ts';
import { teamKey } from '../../identity/teams/schema.ts';

export const stateTypes = [
  'triage',
  'backlog',
  'unstarted',
  'started',
  'completed',
  'canceled',
  'duplicate',
] as const;
export type StateType = (typeof stateTypes)[number];
/** Input also takes the British spelling. */
export const stateTypeInput = Type.Enum([...stateTypes, 'cancelled']);
export const stateTypeOf = (input: string): StateType =>
  input === 'cancelled' ? 'canceled' : (input as StateType);

export const positionMax = 1000;
const position = Type.Integer({ minimum: 0, maximum: positionMax });

export const StateShown = named(
  'WorkflowState',
  Closed({
    id: id('state'),
    name: Type.String(),
    type: Type.Enum([...stateTypes]),
    position,
    team: Type.String({ description: 'The team key.' }),
    version,
    createdAt: time,
    updatedAt: time,
  }),
);
export const StateCreate = Closed({
  team: teamKey,
  name: text(50),
  type: stateTypeInput,
  position: Type.Optional(position),
});
export const StateUpdate = Closed({ name: Type.Optional(text(50)), position: Type.Optional(position) });

export interface State extends Entity {
  readonly teamId: string;
  readonly name: string;
  readonly type: StateType;
  readonly position: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | null;
}

export const stateKind = defineKind<State, Static<typeof StateShown>>({
  name: 'state',
  table: 'states',
  fields: {
    teamId: 'team_id',
    name: 'name',
    type: 'type',
    position: 'position',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
    deletedAt: 'deleted_at',
  },
  wire: (state, { directory }) => ({
    id: state.id,
    name: state.name,
    type: state.type,
    position: state.position,
    team: directory.teams.get(state.teamId)?.key ?? '',
    version: state.version,
    createdAt: isoTime(state.createdAt),
    updatedAt: isoTime(state.updatedAt),
  }),
  events: (before, after) =>
    !before
      ? ['workflow.state_created']
      : after.deletedAt !== null
        ? ['workflow.state_deleted']
        : ['workflow.state_updated'],
});

/** The states a new team starts with; new issues go to the first one of type backlog. */
export function defaultStates(teamId: string, nextId: () => string, now: number): Omit<State, 'version'>[] {
  const names: readonly (readonly [string, StateType])[] = [
    ['Triage', 'triage'],
    ['Backlog', 'backlog'],
    ['Todo', 'unstarted'],
    ['In Progress', 'started'],
    ['Done', 'completed'],
    ['Canceled', 'canceled'],
    ['Duplicate', 'duplicate'],
  ];
  return names.map(([name, type], position) => ({
    id: nextId(),
    teamId,
    name,
    type,
    position,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  }));
}
