// The workspace: the tenant itself. A token belongs to one, so its routes name none.
import { defineContract } from '../../contract/contract.ts';
import { text } from '../../contract/field.ts';

export const workspace = defineContract({
  name: 'workspace',
  path: 'workspace',
  title: 'Workspace',
  id: null,
  doc: 'The tenant itself.',
  fields: { name: text({ max: 80, default: '' }) },
  operations: {},
  events: { created: 'workspace.created', updated: 'workspace.updated' },
  examples: { update: { name: 'Acme' } },
});
