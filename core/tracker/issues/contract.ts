// Issues: what the tracker is about. Their creation, list and history are special; see issues.ts and routes.ts.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { actor, choice, day, json, markdown, number, reference, string, text } from '../../contract/field.ts';
import { member } from '../../identity/members/contract.ts';
import { identifierGivenPattern } from '../../lib/issue-names.ts';
import { Closed, idAndName, idOf, nullable, uuid } from '../../lib/schema.ts';
import { project } from '../projects/contract.ts';
import { team, teamKey } from '../teams/contract.ts';
import { state, type StateType } from '../workflows/contract.ts';

/** From the least to the most urgent. */
export const priorities = ['none', 'low', 'medium', 'high', 'urgent'] as const;
export const descriptionBytesMax = 256 * 1024;

const identifier = Type.String({
  description: 'How people name it: `<TEAM_KEY>-<number>`; null while staged or simulated.',
});
/** Called by its identifier in any case. */
const alias = {
  pattern: identifierGivenPattern,
  doc: 'its identifier, such as ENG-42.',
} as const;
export const labelsMax = 50;
export const labelNames = Type.Array(Type.String({ minLength: 1, maxLength: 80 }), {
  maxItems: labelsMax,
  uniqueItems: true,
  description: 'Names or ids.',
});

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
    }),
    state: reference(
      state,
      { filter: 'type', doc: 'The step of the work that it is in.' },
      Closed({
        id: idOf(state.id),
        name: Type.String({ description: 'What the state is called in its team.' }),
        type: Type.Unsafe<StateType>(state.fields.type.shown),
      }),
    ),
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
      { computed: true, doc: 'Its labels.' },
      Type.Array(idAndName(idOf('lbl'), 'the label')),
    ),
    project: reference(project, { nullable: true, filter: true, doc: 'The project that it is part of.' }),
    parent: reference(
      { name: 'issue', id: 'iss', alias },
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
    estimate: number(
      { minimum: 0, maximum: 10_000 },
      { nullable: true, filter: true, sort: true, doc: 'How much work it is, in whatever the team counts.' },
    ),
    dueDate: day({ nullable: true, filter: true, sort: true, doc: 'The day by which it is to be done.' }),
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
      doc: 'Its page; null while staged or simulated.',
    }),
  },
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
    told: ['issue.purged'],
    other: ['issue.state_changed', 'issue.assigned', 'issue.labeled'],
  },
  keepsDeleted: true,
  ofTeam: true,
  order: 'newest',
  calls: ['get', 'list', 'create', 'update'],
  examples: { update: { priority: 'urgent', labels: ['bug'] } },
});
