// The workspace: the tenant itself. A token belongs to one, so its routes name none.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { json, text } from '../../contract/field.ts';
import { teamKeyPattern } from '../../lib/issue-names.ts';
import { guardedClasses } from '../../lib/guarded.ts';
import { Closed, enumeration } from '../../lib/schema.ts';

const publicTriage = Closed({
  teams: Type.Array(Type.String({ pattern: teamKeyPattern }), {
    minItems: 1,
    maxItems: 20,
    uniqueItems: true,
    description: 'Keys of the teams whose issues may be named.',
  }),
});

const guardedClass = enumeration(
  'GuardedClass',
  guardedClasses,
  '`delete`: deletions; `bulk`: changes of more than one issue at once; `finish`: issues that become completed, canceled or duplicates; `others`: changes of issues that the agent did not make.',
);

export const workspace = defineContract({
  name: 'workspace',
  path: 'workspace',
  title: 'Workspace',
  id: null,
  doc: 'What everything belongs to: a key sees one workspace, and nothing of others.',
  fields: {
    name: text({ max: 80, default: '', doc: 'What it is called.' }),
    publicTriage: json(publicTriage, {
      nullable: true,
      doc: 'Whose issues `POST /triage` names as duplicates, with identifier and title, to anybody who gives the id of the workspace; null: nobody’s.',
    }),
    guarded: json(Type.Array(guardedClass, { maxItems: guardedClasses.length, uniqueItems: true }), {
      default: guardedClasses,
      doc: 'What waits for a person’s approval when an agent asks for it over MCP, beside what the consent to the agent says.',
    }),
  },
  undo: 'operations',
  operations: {},
  events: { created: 'workspace.created', updated: 'workspace.updated' },
  examples: { update: { name: 'Acme' } },
});
