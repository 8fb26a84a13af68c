// Workspaces, the tenants of the server. A token belongs to one workspace, so the routes have no workspace
// id.
import { Type } from 'typebox';
import { defineContract } from '../../../kernel/contract/contract.ts';
import { json, text } from '../../../kernel/contract/field.ts';
import { teamKeyPattern } from '../../../platform/lib/ids.ts';
import { guardedClasses } from '../../../platform/lib/guarded-classes.ts';
import { Closed, enumeration } from '../../../platform/lib/schema.ts';

const publicTriage = Closed({
  teams: Type.Array(Type.String({ pattern: teamKeyPattern }), {
    minItems: 1,
    maxItems: 20,
    uniqueItems: true,
    description: 'Keys of the teams whose issues may be shown.',
  }),
});

const guardedClass = enumeration(
  'GuardedClass',
  guardedClasses,
  'Class of actions that need approval. `delete`: deletions; `bulk`: changes of more than one issue at once; `finish`: issues that become completed, canceled or duplicates; `others`: changes of issues that the agent did not create.',
);

export const workspace = defineContract({
  name: 'workspace',
  path: 'workspace',
  title: 'Workspace',
  id: null,
  doc: 'Tenant that contains all other objects. A key has access to exactly one workspace.',
  fields: {
    name: text({ max: 80, default: '', doc: 'Name of the workspace.' }),
    publicTriage: json(publicTriage, {
      nullable: true,
      doc: 'Teams whose issues `POST /triage` shows as duplicates, with identifier and title, to anybody who sends the id of the workspace; null for none.',
    }),
    guarded: json(Type.Array(guardedClass, { maxItems: guardedClasses.length, uniqueItems: true }), {
      default: guardedClasses,
      doc: 'Action classes that need the approval of a person when an agent requests them over MCP, in addition to those of its grant.',
    }),
  },
  undo: 'operations',
  operations: {},
  events: { created: 'workspace.created', updated: 'workspace.updated' },
  examples: { update: { name: 'Acme' } },
});
