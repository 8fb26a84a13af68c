import { defineFeature } from '../../kernel/feature.ts';
import { workflows as resource } from './workflows.ts';

export const workflows = defineFeature({ name: 'workflows', resources: [resource] });
