import { defineFeature } from '../../kernel/feature.ts';
import { notifying } from './reactions.ts';

export const notifications = defineFeature({ name: 'notifications', reactions: [notifying] });
