import { defineFeature } from '../../kernel/feature.ts';
import { progressRoutes } from './routes.ts';

export const progress = defineFeature({ name: 'progress', routes: progressRoutes });
