// Issues. Creation, list and history differ from other resources; see issues.ts and routes.ts.
import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
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
} from '../../kernel/contract/field.ts';
import { member } from '../people/contract.ts';
import { identifierInputPattern } from '../../platform/lib/ids.ts';
import { Closed, enumeration, idAndName, idOf, nullable, uuid } from '../../platform/lib/schema.ts';
import { milestone } from '../milestones/contract.ts';
import { fieldsInput, fieldsResponse } from '../fields/contract.ts';
import { cycle } from '../cycles/contract.ts';
import { project } from '../projects/contract.ts';
import { team, teamKey } from '../teams/contract.ts';
import { state, type StateType } from '../workflows/contract.ts';

/** Name of the timer that ends a snooze, and of the actor of its events. */
export const snoozeTimerName = 'snooze';

/** Least urgent first. */
export const priorities = ['none', 'low', 'medium', 'high', 'urgent'] as const;
export const descriptionBytesMax = 256 * 1024;

const identifier = Type.String({
  description: 'Identifier of the issue: `<TEAM_KEY>-<number>`; null while staged or simulated.',
});
/** Matches identifiers case-insensitively, including those that the issue had in other teams. */
const alias = {
  pattern: identifierInputPattern,
  doc: 'its identifier, such as ENG-42.',
} as const;
/** Breaks the cycle of an issue that refers to issues. */
const itself = { name: 'issue', id: 'iss', alias } as const;
export const stateResponse = Closed({
  id: idOf(state.id),
  name: Type.String({ description: 'Name of the state.' }),
  type: Type.Unsafe<StateType>(state.fields.type.response),
});

/** Relation types, from the point of view of an issue. */
export const relationTypes = ['blocks', 'blocked_by', 'duplicate_of', 'duplicated_by', 'relates_to'] as const;
/** Extra data of relation events. */
const relationEventData = {
  relation: Closed(
    {
      id: idOf('rln'),
      type: enumeration('RelationType', relationTypes, 'Relation from the issue to the other one.'),
      issue: Closed(
        { id: idOf('iss'), identifier: nullable(Type.String({ description: 'Identifier of the issue.' })) },
        { description: 'The other issue.' },
      ),
    },
    { description: 'The relation.' },
  ),
};

export const labelsMax = 50;
export const labelNames = Type.Array(Type.String({ minLength: 1, maxLength: 80 }), {
  maxItems: labelsMax,
  uniqueItems: true,
  description: 'Names or ids of labels.',
});

/** Reference to the issue that an object belongs to. */
export const issueReference = Closed({
  id: idOf('iss'),
  identifier: nullable(Type.String({ description: 'Identifier of the issue.' })),
});

/** Set by the server when the issue changes its state; see `inState`. */
const stateTime = (doc: string) =>
  time({ nullable: true, write: 'never', filter: true, sort: true, doc: `${doc} Null if unknown.` });

export const issue = defineContract({
  name: 'issue',
  path: 'issues',
  title: 'Issue',
  id: 'iss',
  alias,
  doc: 'Piece of work of a team.',
  fields: {
    identifier: string(identifier, { nullable: true, write: 'never', computed: true }),
    number: number(
      { integer: true },
      {
        nullable: true,
        write: 'never',
        filter: true,
        sort: true,
        doc: 'Number of the issue within its team; null while staged or simulated.',
      },
    ),
    title: text({
      max: 500,
      doc: 'Title of the issue, up to 500 characters.',
      required: true,
      filter: true,
      sort: true,
    }),
    description: markdown({
      bytesMax: descriptionBytesMax,
      doc: 'Description of the issue.',
      default: '',
      filter: true,
      html: true,
    }),
    state: reference(state, { filter: 'type', doc: 'Workflow state of the issue.' }, stateResponse),
    priority: choice(priorities, {
      default: 'none',
      filter: true,
      sort: true,
      doc: 'Priority of the issue.',
    }),
    assignee: reference(member, { nullable: true, filter: true, doc: 'Assignee of the issue.' }),
    creator: actor({ filter: true, doc: 'Creator of the issue.' }),
    team: reference(
      team,
      { write: 'never', filter: 'key', doc: 'Team of the issue.' },
      Closed({ id: uuid, key: teamKey, name: Type.String({ description: 'Name of the team.' }) }),
    ),
    labels: json(
      labelNames,
      // Filters use the name `label`.
      { computed: true, filter: false, doc: 'Labels of the issue.' },
      Type.Array(idAndName(idOf('lbl'), 'the label')),
    ),
    fields: json(
      fieldsInput,
      { computed: true, doc: 'Values of the custom fields of the workspace and the team.' },
      fieldsResponse,
    ),
    project: reference(project, { nullable: true, filter: true, doc: 'Project of the issue.' }),
    milestone: reference(milestone, {
      nullable: true,
      filter: true,
      doc: 'Milestone of the project; cleared when the issue moves to another project.',
    }),
    parent: reference(
      itself,
      { nullable: true, filter: true, doc: 'Parent of the issue.' },
      Closed({
        id: idOf('iss'),
        identifier: nullable(
          Type.String({
            description:
              'Identifier of the parent; null while staged, and in the event of an issue that was created in the same run.',
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
      doc: 'Rank among the sub-issues of the parent, compared by bytes; null without a parent.',
    }),
    snoozedUntil: time({
      nullable: true,
      write: 'never',
      filter: true,
      sort: true,
      doc: 'Time at which the issue returns to triage; null unless snoozed.',
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
      { nullable: true, filter: true, sort: true, doc: 'Estimate of the work, in the unit of the team.' },
    ),
    cycle: reference(
      cycle,
      { nullable: true, filter: true, doc: 'Cycle in which the issue is planned.' },
      Closed({
        id: idOf(cycle.id),
        number: Type.Integer({ description: 'Number of the cycle within its team.' }),
        name: Type.String({ description: 'Name of the cycle.' }),
      }),
    ),
    dueDate: day({ nullable: true, filter: true, sort: true, doc: 'Due date of the issue.' }),
    slaDueAt: time({
      nullable: true,
      write: 'never',
      unlogged: true,
      filter: true,
      sort: true,
      doc: 'Earliest due time of the running SLA clocks, possibly in the past; null if no clock is running. Changes of this field do not create a new version of the issue.',
    }),
    externalSource: text({
      max: 255,
      nullable: true,
      write: 'never',
      filter: true,
      doc: 'System that the issue was imported from.',
    }),
    externalId: text({
      max: 255,
      nullable: true,
      write: 'never',
      filter: true,
      doc: 'Id of the issue in the external system; unique per `externalSource` in the workspace.',
    }),
    url: string(Type.String({ format: 'uri' }), {
      nullable: true,
      write: 'never',
      computed: true,
      filter: false,
      doc: 'URL of the issue; null while staged or simulated.',
    }),
  },
  undo: 'values',
  operations: {
    update: {
      summary: 'Update an issue',
      description: 'A patch that changes nothing returns 200 with the same version and creates no event.',
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
    announced: [
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
    beside: { 'issue.relation_added': relationEventData, 'issue.relation_removed': relationEventData },
  },
  retainsDeleted: true,
  ofTeam: true,
  order: 'newest',
  calls: ['get', 'list', 'create', 'update', 'move'],
  examples: { update: { priority: 'urgent', labels: ['bug'] } },
});
