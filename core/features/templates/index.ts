import { defineFeature } from '../../kernel/feature.ts';
import { templates as resource } from './templates.ts';

export const templates = defineFeature({ name: 'templates', resources: [resource] });
