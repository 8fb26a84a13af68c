import { defineFeature } from '../../kernel/feature.ts';
import { labels as resource } from './labels.ts';

export const labels = defineFeature({ name: 'labels', resources: [resource] });
