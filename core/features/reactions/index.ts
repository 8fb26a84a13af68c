import { defineFeature } from '../../kernel/feature.ts';
import { reactions as resource } from './reactions.ts';

export const reactions = defineFeature({ name: 'reactions', resources: [resource] });
