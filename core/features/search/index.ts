import { createIndexing } from './indexing.ts';
import { searchCheck } from './checks.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { search as contract } from './contract.ts';
import { searchRoutes } from './routes.ts';

export const search = defineFeature({
  name: 'search',
  contracts: [contract],
  routes: searchRoutes,
  checks: [searchCheck],
  workers: [createIndexing],
});

export { createFindDuplicates } from './similar.ts';
