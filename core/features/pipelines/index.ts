import { defineFeature } from '../../kernel/feature.ts';
import { pipelines as resource } from './pipelines.ts';

export const pipelines = defineFeature({ name: 'pipelines', resources: [resource] });
