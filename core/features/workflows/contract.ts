// Workflow states of teams. Each has one of a fixed set of types.
import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, number, referenceBy, text } from '../../kernel/contract/field.ts';
import { team } from '../teams/contract.ts';

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

export const positionMax = 1000;

export const state = defineContract({
  name: 'state',
  path: 'workflows',
  title: 'WorkflowState',
  id: 'wfs',
  names: { by: ['name', 'type'], within: 'team' },
  doc: 'Step in the workflow of a team.',
  fields: {
    name: text({ max: 50, required: true, doc: 'Name of the state.' }),
    type: choice(stateTypes, {
      required: true,
      write: 'create',
      aliases: { cancelled: 'canceled' },
      doc: 'Type of the state, with the same meaning in all teams.',
    }),
    position: number(
      { minimum: 0, maximum: positionMax, integer: true },
      { default: 0, doc: 'Position among the states of the team.' },
    ),
    team: referenceBy(team, 'key', {
      required: true,
      write: 'create',
      doc: 'Key of the team.',
    }),
  },
  undo: 'values',
  operations: {
    list: 'List workflow states, by team and position',
    create: 'Add a workflow state',
    update: 'Rename or move a workflow state',
    delete: { summary: 'Delete a workflow state without issues', errors: ['conflict'] },
  },
  events: {
    created: 'workflow.state_created',
    updated: 'workflow.state_updated',
    deleted: 'workflow.state_deleted',
  },
  retainsDeleted: true,
  ofTeam: true,
  order: ['teamId', 'position'],
  directory: { as: 'states', entryFields: ['teamId', 'name', 'type', 'position'], withDeleted: true },
  examples: {
    create: { team: 'ENG', name: 'In Review', type: 'started' },
    update: { name: 'Review' },
  },
});
