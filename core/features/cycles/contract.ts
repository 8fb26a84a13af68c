import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, markdown, number, referenceBy, text, time, pageUrl } from '../../kernel/contract/field.ts';
import { team } from '../teams/contract.ts';

/** Name of the timer of a team, and of the actor of its events. */
export const cyclesTimerName = 'cycles';

export const cycle = defineContract({
  name: 'cycle',
  path: 'cycles',
  title: 'Cycle',
  id: 'cyc',
  names: { by: ['number', 'name'], within: 'team' },
  doc: 'Period in which a team plans its work.',
  fields: {
    number: number(
      { integer: true },
      { write: 'never', filter: true, sort: true, doc: 'Number of the cycle within its team, from 1.' },
    ),
    name: text({
      max: 120,
      default: '',
      filter: true,
      doc: 'Name of the cycle; `Cycle <number>` if none was given.',
    }),
    description: markdown({ max: 65_536, default: '', doc: 'Goal of the cycle.' }),
    team: referenceBy(team, 'key', {
      required: true,
      write: 'create',
      filter: true,
      doc: 'Key of the team.',
    }),
    startsAt: time({
      required: true,
      filter: true,
      sort: true,
      doc: 'Time at which the cycle starts automatically. Cycles of a team do not overlap.',
    }),
    endsAt: time({
      required: true,
      filter: true,
      sort: true,
      doc: 'Time at which the cycle is completed automatically; exclusive.',
    }),
    status: choice(['upcoming', 'active', 'completed'], {
      default: 'upcoming',
      write: 'never',
      filter: true,
      doc: 'Status of the cycle. At most one cycle of a team is active.',
    }),
    startedAt: time({
      nullable: true,
      write: 'never',
      doc: 'Time at which the cycle started; null while upcoming.',
    }),
    completedAt: time({
      nullable: true,
      write: 'never',
      doc: 'Time at which the cycle was completed; null until then.',
    }),
    url: pageUrl('cycle'),
  },
  undo: 'values',
  operations: {
    list: 'List cycles, earliest first',
    create: 'Create a cycle',
    get: 'Get a cycle',
    update: {
      summary: 'Change a cycle',
      description: 'A cycle that has started keeps its start; a completed cycle also keeps its end.',
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
  retainsDeleted: true,
  ofTeam: true,
  directory: { as: 'cycles', entryFields: ['teamId', 'number', 'name', 'status', 'startsAt'] },
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
