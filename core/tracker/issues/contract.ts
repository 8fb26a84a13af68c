// Issues: what the tracker is about. Their creation, list and history are special; see issues.ts and routes.ts.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { actor, choice, day, json, markdown, number, reference, string, text } from '../../contract/field.ts';
import { member } from '../../identity/members/contract.ts';
import { Closed, idOf, uuid } from '../../lib/schema.ts';
import { project } from '../projects/contract.ts';
import { team, teamKey } from '../teams/contract.ts';
import { state, stateTypes } from '../workflows/contract.ts';

/** From the least to the most urgent. */
export const priorities = ['none', 'low', 'medium', 'high', 'urgent'] as const;
export const descriptionBytesMax = 256 * 1024;

const identifier = Type.String({ description: '<TEAM_KEY>-<number>; null while staged or simulated.' });
/** Called by its identifier in any case. */
const alias = {
  pattern: '^[A-Za-z][A-Za-z0-9]{0,9}-[1-9][0-9]{0,9}$',
  doc: 'its identifier, such as ENG-42.',
} as const;
export const labelsMax = 50;
export const labelNames = Type.Array(Type.String({ minLength: 1, maxLength: 80 }), {
  maxItems: labelsMax,
  uniqueItems: true,
  description: 'Names or ids of labels.',
});
const idAndName = Closed({ id: Type.String(), name: Type.String() });

export const issue = defineContract({
  name: 'issue',
  path: 'issues',
  title: 'Issue',
  id: 'iss',
  alias,
  doc: 'A piece of work of a team.',
  fields: {
    identifier: string(identifier, { nullable: true, write: 'never', computed: true }),
    number: number({ integer: true }, { nullable: true, write: 'never', filter: true, sort: true }),
    title: text({
      max: 500,
      doc: 'A title of 1 to 500 characters.',
      required: true,
      filter: true,
      sort: true,
    }),
    description: markdown({
      bytesMax: descriptionBytesMax,
      doc: 'Markdown, at most 256 KiB.',
      default: '',
      filter: true,
    }),
    state: reference(
      state,
      { filter: 'type' },
      Closed({ id: idOf(state.id), name: Type.String(), type: Type.Enum([...stateTypes]) }),
    ),
    priority: choice(priorities, { default: 'none', filter: true, sort: true }),
    assignee: reference(member, { nullable: true, filter: true }),
    creator: actor({ filter: true }),
    team: reference(
      team,
      { write: 'never', filter: 'key' },
      Closed({ id: uuid, key: teamKey, name: Type.String() }),
    ),
    labels: json(labelNames, { computed: true }, Type.Array(idAndName)),
    project: reference(project, { nullable: true, filter: true }),
    parent: reference(
      { name: 'issue', id: 'iss', alias },
      { nullable: true, filter: true },
      Closed({ id: idOf('iss'), identifier: Type.String() }),
    ),
    estimate: number({ minimum: 0, maximum: 10_000 }, { nullable: true, filter: true, sort: true }),
    dueDate: day({ nullable: true, filter: true, sort: true }),
    externalSource: text({ max: 255, nullable: true, write: 'never', filter: true }),
    externalId: text({ max: 255, nullable: true, write: 'never', filter: true }),
    url: string(Type.String({ format: 'uri' }), { nullable: true, write: 'never', computed: true }),
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
