import { defineFeature } from '../../kernel/feature.ts';
import { views as resource } from './views.ts';

export const views = defineFeature({ name: 'views', resources: [resource] });
