import { defineFeature } from '../../kernel/feature.ts';
import { comments as resource } from './comments.ts';

export const comments = defineFeature({ name: 'comments', resources: [resource] });
