// Issues: what the tracker is about. Their creation, list and history are special; see issues.ts and routes.ts.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import {
  actor,
  choice,
  day,
  json,
  markdown,
  number,
  reference,
  string,
  text,
  time,
} from '../../contract/field.ts';
import { member } from '../../identity/members/contract.ts';
import { identifierGivenPattern } from '../../lib/issue-names.ts';
import { Closed, enumeration, idAndName, idOf, nullable, uuid } from '../../lib/schema.ts';
import { milestone } from '../milestones/contract.ts';
import { fieldsGiven, fieldsShown } from '../fields/contract.ts';
import { cycle } from '../cycles/contract.ts';
import { project } from '../projects/contract.ts';
import { team, teamKey } from '../teams/contract.ts';
import { state, type StateType } from '../workflows/contract.ts';

/** From the least to the most urgent. */
export const priorities = ['none', 'low', 'medium', 'high', 'urgent'] as const;
export const descriptionBytesMax = 256 * 1024;

const identifier = Type.String({
  description: 'How people name it: `<TEAM_KEY>-<number>`; null while staged or simulated.',
});
/** Called by its identifier in any case, also by one that it had in another team. */
const alias = {
  pattern: identifierGivenPattern,
  doc: 'its identifier, such as ENG-42.',
} as const;
/** An issue as its own contract refers to it. */
const itself = { name: 'issue', id: 'iss', alias } as const;
export const stateShown = Closed({
  id: idOf(state.id),
  name: Type.String({ description: 'What the state is called in its team.' }),
  type: Type.Unsafe<StateType>(state.fields.type.shown),
});

/** What an issue is to another one. */
export const relationTypes = ['blocks', 'blocked_by', 'duplicate_of', 'duplicated_by', 'relates_to'] as const;
/** A relation of the issue, as events tell it. */
const relationTold = {
  relation: Closed(
    {
      id: idOf('rln'),
      type: enumeration('RelationType', relationTypes, 'What the issue is to the other one.'),
      issue: Closed(
        { id: idOf('iss'), identifier: nullable(Type.String({ description: 'How people name it.' })) },
        { description: 'The other one.' },
      ),
    },
    { description: 'The relation.' },
  ),
};

export const labelsMax = 50;
export const labelNames = Type.Array(Type.String({ minLength: 1, maxLength: 80 }), {
  maxItems: labelsMax,
  uniqueItems: true,
  description: 'Names or ids.',
});

/** Of what belongs to an issue: which one that is. */
export const issueNamed = Closed({
  id: idOf('iss'),
  identifier: nullable(Type.String({ description: 'How people name the issue.' })),
});

/** Set by the server when the issue changes its state; see in-state.ts. */
const stateTime = (doc: string) =>
  time({ nullable: true, write: 'never', filter: true, sort: true, doc: `${doc} Null where it is unknown.` });

export const issue = defineContract({
  name: 'issue',
  path: 'issues',
  title: 'Issue',
  id: 'iss',
  alias,
  doc: 'A piece of work of a team.',
  fields: {
    identifier: string(identifier, { nullable: true, write: 'never', computed: true }),
    number: number(
      { integer: true },
      {
        nullable: true,
        write: 'never',
        filter: true,
        sort: true,
        doc: 'Counts the issues of the team; null while staged or simulated.',
      },
    ),
    title: text({
      max: 500,
      doc: 'What it is about, in up to 500 characters.',
      required: true,
      filter: true,
      sort: true,
    }),
    description: markdown({
      bytesMax: descriptionBytesMax,
      doc: 'All there is to say of it.',
      default: '',
      filter: true,
      html: true,
    }),
    state: reference(state, { filter: 'type', doc: 'The step of the work that it is in.' }, stateShown),
    priority: choice(priorities, {
      default: 'none',
      filter: true,
      sort: true,
      doc: 'How much it presses.',
    }),
    assignee: reference(member, { nullable: true, filter: true, doc: 'Who works on it.' }),
    creator: actor({ filter: true, doc: 'Who created it.' }),
    team: reference(
      team,
      { write: 'never', filter: 'key', doc: 'The team that it belongs to.' },
      Closed({ id: uuid, key: teamKey, name: Type.String({ description: 'What the team is called.' }) }),
    ),
    labels: json(
      labelNames,
      // Filters call them `label`.
      { computed: true, filter: false, doc: 'Its labels.' },
      Type.Array(idAndName(idOf('lbl'), 'the label')),
    ),
    fields: json(
      fieldsGiven,
      { computed: true, doc: 'What it says in custom fields of its workspace and team.' },
      fieldsShown,
    ),
    project: reference(project, { nullable: true, filter: true, doc: 'The project that it is part of.' }),
    milestone: reference(milestone, {
      nullable: true,
      filter: true,
      doc: 'The step of its project that it is part of; left behind where it moves to another project.',
    }),
    parent: reference(
      itself,
      { nullable: true, filter: true, doc: 'The issue that it is a part of.' },
      Closed({
        id: idOf('iss'),
        identifier: nullable(
          Type.String({
            description:
              'How people name that issue; null while it is staged, and in the event of an issue that was made in the same run.',
          }),
        ),
      }),
    ),
    subOrder: text({
      max: 64,
      nullable: true,
      write: 'never',
      filter: false,
      sort: true,
      doc: 'Its rank among the issues of its parent, compared by its bytes; null without a parent.',
    }),
    snoozedUntil: time({
      nullable: true,
      write: 'never',
      filter: true,
      sort: true,
      doc: 'When it comes back to triage; null where it is not put off.',
    }),
    startedAt: stateTime(
      'Time of the first entry into a state of type `started`; null in `triage`, `backlog` and `unstarted`.',
    ),
    completedAt: stateTime('Time of the entry into a state of type `completed`; null in other types.'),
    canceledAt: stateTime(
      'Time of the entry into a state of type `canceled` or `duplicate`; null in other types.',
    ),
    estimate: number(
      { minimum: 0, maximum: 10_000 },
      { nullable: true, filter: true, sort: true, doc: 'How much work it is, in whatever the team counts.' },
    ),
    cycle: reference(
      cycle,
      { nullable: true, filter: true, doc: 'The cycle of its team in which it is planned.' },
      Closed({
        id: idOf(cycle.id),
        number: Type.Integer({ description: 'Counts the cycles of the team.' }),
        name: Type.String({ description: 'What the cycle is called.' }),
      }),
    ),
    dueDate: day({ nullable: true, filter: true, sort: true, doc: 'The day by which it is to be done.' }),
    slaDueAt: time({
      nullable: true,
      write: 'never',
      unlogged: true,
      filter: true,
      sort: true,
      doc: 'When the first of its SLA clocks is due, or was; null where none counts. It moves by itself, without a new version.',
    }),
    externalSource: text({
      max: 255,
      nullable: true,
      write: 'never',
      filter: true,
      doc: 'The system that it was imported from.',
    }),
    externalId: text({
      max: 255,
      nullable: true,
      write: 'never',
      filter: true,
      doc: 'What that system calls it; unique with its source in a workspace.',
    }),
    url: string(Type.String({ format: 'uri' }), {
      nullable: true,
      write: 'never',
      computed: true,
      filter: false,
      doc: 'Its page; null while staged or simulated.',
    }),
  },
  undo: 'values',
  operations: {
    update: {
      summary: 'Update an issue',
      description: 'A patch that changes nothing answers 200 with the same version and makes no event.',
      errors: ['transition_not_allowed'],
    },
    delete: 'Delete an issue; it can be restored',
    restore: 'Restore a deleted issue',
  },
  events: {
    created: 'issue.created',
    updated: 'issue.updated',
    deleted: 'issue.deleted',
    restored: 'issue.restored',
    told: [
      'issue.purged',
      'issue.relation_added',
      'issue.relation_removed',
      'issue.attachment_added',
      'issue.attachment_removed',
    ],
    other: [
      'issue.state_changed',
      'issue.assigned',
      'issue.labeled',
      'issue.moved',
      'issue.triage_accepted',
      'issue.triage_declined',
    ],
    beside: { 'issue.relation_added': relationTold, 'issue.relation_removed': relationTold },
  },
  keepsDeleted: true,
  ofTeam: true,
  order: 'newest',
  calls: ['get', 'list', 'create', 'update', 'move'],
  examples: { update: { priority: 'urgent', labels: ['bug'] } },
});
