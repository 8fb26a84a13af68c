// Relations between two issues, which may be of different teams. A relation is stored once and shown from
// both sides.
import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { actor, choice, reference } from '../../kernel/contract/field.ts';
import { Closed, described, idOf, nullable } from '../../platform/lib/schema.ts';
import { issue, relationTypes, stateResponse } from '../issues/contract.ts';

const otherResponse = Closed({
  id: idOf(issue.id),
  identifier: nullable(Type.String({ description: 'Identifier of the issue; null while it is staged.' })),
  title: Type.String({ description: 'Title of the issue.' }),
  state: described(stateResponse, 'Workflow state of the issue.'),
});

export const relation = defineContract({
  name: 'relation',
  path: 'relations',
  scope: 'issues',
  title: 'Relation',
  id: 'rln',
  doc: 'Relation between two issues, seen from the requested one.',
  parent: issue,
  fields: {
    type: choice(relationTypes, {
      required: true,
      write: 'create',
      doc: 'Relation from the issue to the other one.',
    }),
    issue: reference(issue, { required: true, write: 'create', doc: 'The other issue.' }, otherResponse),
    creator: actor({ doc: 'Author of the relation.' }),
  },
  undo: 'values',
  operations: {
    list: {
      summary: 'List the relations of an issue, oldest first',
      description: 'Relations to deleted issues are left out.',
    },
    create: {
      summary: 'Relate an issue to another',
      description:
        'The issues may belong to different teams. With `duplicate_of` the issue moves to a state of type `duplicate`, or else `canceled`, of its team; with `duplicated_by` the other issue does.',
      errors: ['conflict'],
      writes: ['stateId'],
    },
    get: {
      summary: 'Get a relation',
      description: 'Shown from the side of the issue that blocks or duplicates the other one.',
    },
    delete: 'Delete a relation from both issues',
  },
  events: {},
  retainsDeleted: true,
  ofTeam: true,
  calls: ['list', 'get', 'create', 'delete'],
  examples: { create: { type: 'blocks', issueId: 'ENG-2' } },
});
