// Search has no objects of its own; the contract gives plugins `ctx.search`.
import { defineContract } from '../../kernel/contract/contract.ts';

export const search = defineContract({
  name: 'search',
  path: 'search',
  scope: 'issues',
  title: 'Search',
  id: null,
  doc: 'Full-text search for issues and their comments.',
  fields: {},
  undo: { never: 'A search writes nothing.' },
  operations: {},
  events: {},
  ofTeam: true,
  calls: ['query'],
});
