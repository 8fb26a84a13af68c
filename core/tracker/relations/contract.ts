// Relations: what two issues have to do with each other, across teams. Each is stored once and shown from both sides.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { actor, choice, reference } from '../../contract/field.ts';
import { Closed, described, idOf, nullable } from '../../lib/schema.ts';
import { issue, relationTypes, stateShown } from '../issues/contract.ts';

const otherShown = Closed({
  id: idOf(issue.id),
  identifier: nullable(Type.String({ description: 'How people name it; null while it is staged.' })),
  title: Type.String({ description: 'What it is about.' }),
  state: described(stateShown, 'The step of the work that it is in.'),
});

export const relation = defineContract({
  name: 'relation',
  path: 'relations',
  scope: 'issues',
  title: 'Relation',
  id: 'rln',
  doc: 'What an issue has to do with another, from the side of the one that was asked.',
  parent: issue,
  fields: {
    type: choice(relationTypes, {
      required: true,
      write: 'create',
      doc: 'What the issue is to the other one.',
    }),
    issue: reference(issue, { required: true, write: 'create', doc: 'The other one.' }, otherShown),
    creator: actor({ doc: 'Who said so.' }),
  },
  undo: 'values',
  operations: {
    list: {
      summary: 'List the relations of an issue, oldest first',
      description: 'Those to deleted issues are left out.',
    },
    create: {
      summary: 'Relate an issue to another',
      description:
        'Also to one of another team. With `duplicate_of` the issue moves to the state of its team of type `duplicate`, else `canceled`; with `duplicated_by` the other one does.',
      errors: ['conflict'],
      writes: ['stateId'],
    },
    get: {
      summary: 'Get a relation',
      description: 'From the side of the issue that blocks the other one, or is its duplicate.',
    },
    delete: 'Remove a relation, on both sides',
  },
  events: {},
  keepsDeleted: true,
  ofTeam: true,
  calls: ['list', 'get', 'create', 'delete'],
  examples: { create: { type: 'blocks', issueId: 'ENG-2' } },
});
