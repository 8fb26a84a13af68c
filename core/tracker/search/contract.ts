// Search: no objects of its own, but a way to find issues, which plugins have as `ctx.search`.
import { defineContract } from '../../contract/contract.ts';

export const search = defineContract({
  name: 'search',
  path: 'search',
  scope: 'issues',
  title: 'Search',
  id: null,
  doc: 'Finds issues by the words in them and in their comments.',
  fields: {},
  undo: { never: 'A search writes nothing.' },
  operations: {},
  events: {},
  ofTeam: true,
  calls: ['query'],
});
