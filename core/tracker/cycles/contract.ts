// Cycles: the stretches of time in which a team plans its work.
import { defineContract } from '../../contract/contract.ts';
import { choice, markdown, number, referenceBy, text, time } from '../../contract/field.ts';
import { team } from '../teams/contract.ts';

export const cycle = defineContract({
  name: 'cycle',
  path: 'cycles',
  title: 'Cycle',
  id: 'cyc',
  names: { by: ['number', 'name'], within: 'team' },
  doc: 'A stretch of time in which a team plans its work.',
  fields: {
    number: number(
      { integer: true },
      { write: 'never', filter: true, sort: true, doc: 'Counts the cycles of the team.' },
    ),
    name: text({
      max: 120,
      default: '',
      filter: true,
      doc: 'What it is called; `Cycle <number>` unless given.',
    }),
    description: markdown({ max: 65_536, default: '', doc: 'What the team wants to reach in it.' }),
    team: referenceBy(team, 'key', {
      required: true,
      write: 'create',
      filter: true,
      doc: 'The team whose work it is about, by its key.',
    }),
    startsAt: time({
      required: true,
      filter: true,
      sort: true,
      doc: 'When it starts by itself. Cycles of a team do not overlap.',
    }),
    endsAt: time({
      required: true,
      filter: true,
      sort: true,
      doc: 'When it is completed by itself: the first moment that is no longer in it.',
    }),
    status: choice(['upcoming', 'active', 'completed'], {
      default: 'upcoming',
      write: 'never',
      filter: true,
      doc: 'How far it has come. At most one cycle of a team is active.',
    }),
    startedAt: time({ nullable: true, write: 'never', doc: 'When it started; null while it is upcoming.' }),
    completedAt: time({
      nullable: true,
      write: 'never',
      doc: 'When it was completed; null until it is.',
    }),
  },
  undo: 'values',
  operations: {
    list: 'List cycles, the earliest first',
    create: 'Create a cycle',
    get: 'Get a cycle',
    update: {
      summary: 'Change a cycle',
      description: 'Of one that has started, the start stays; of one that is completed, the end as well.',
    },
    delete: { summary: 'Delete an upcoming cycle without issues', errors: ['conflict'] },
  },
  order: ['startsAt'],
  events: {
    created: 'cycle.created',
    updated: 'cycle.updated',
    deleted: 'cycle.deleted',
    other: ['cycle.started', 'cycle.completed'],
  },
  keepsDeleted: true,
  ofTeam: true,
  directory: { as: 'cycles', keeps: ['teamId', 'number', 'name', 'status', 'startsAt'] },
  calls: ['get', 'list', 'progress'],
  examples: {
    create: {
      team: 'ENG',
      description: 'The editor saves.',
      startsAt: '2031-03-03T00:00:00.000Z',
      endsAt: '2031-03-17T00:00:00.000Z',
    },
    update: { description: 'The editor saves, and says so.' },
  },
});
