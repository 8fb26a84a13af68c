import { defineFeature } from '../../kernel/feature.ts';
import { subscribers as resource } from './subscribers.ts';

export const subscribers = defineFeature({ name: 'subscribers', resources: [resource] });
