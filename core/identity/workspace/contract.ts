// The workspace: the tenant itself. A token belongs to one, so its routes name none.
import { defineContract } from '../../contract/contract.ts';
import { text } from '../../contract/field.ts';

export const workspace = defineContract({
  name: 'workspace',
  path: 'workspace',
  title: 'Workspace',
  id: null,
  doc: 'What everything belongs to: a key sees one workspace, and nothing of others.',
  fields: { name: text({ max: 80, default: '', doc: 'What it is called.' }) },
  operations: {},
  events: { created: 'workspace.created', updated: 'workspace.updated' },
  examples: { update: { name: 'Acme' } },
});
