import { indexing } from './indexing.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { search as contract } from './contract.ts';
import { searchRoutes } from './routes.ts';

export const search = defineFeature({
  name: 'search',
  contracts: [contract],
  routes: searchRoutes,
  projections: [indexing],
});

export { createFindDuplicates } from './similar.ts';
