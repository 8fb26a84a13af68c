import { defineFeature } from '../../kernel/feature.ts';

export const agents = defineFeature({ name: 'agents' });

export { createMcp } from './endpoint.ts';
